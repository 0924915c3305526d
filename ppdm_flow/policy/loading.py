"""Reading a policy: text, inheritance and params, shape, rules; whatever is wrong is in the outcome."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ppdm_flow.core.diagnostics import Diagnostic, RelatedPlace, Severity, in_order
from ppdm_flow.core.digests import digest
from ppdm_flow.core.spans import Span
from ppdm_flow.core.suggest import did_you_mean
from ppdm_flow.policy.advice import empty_hint
from ppdm_flow.policy.ambiguous import ambiguous
from ppdm_flow.policy.files.files import Files, Library
from ppdm_flow.policy.flatten import FlatPolicy, flatten
from ppdm_flow.policy.floor import STAR, Floor
from ppdm_flow.policy.floors.judging import PolicyUnderFloors, violations
from ppdm_flow.policy.inheritance.conflicts import unresolved_conflicts
from ppdm_flow.policy.inheritance.inherit import Inheritance, InheritanceRecord
from ppdm_flow.policy.inheritance.layers import PolicyLayer
from ppdm_flow.policy.inheritance.override import completed, overridden
from ppdm_flow.policy.inheritance.references import FoundTemplate
from ppdm_flow.policy.language import kinds
from ppdm_flow.policy.language.models import Policy
from ppdm_flow.policy.language.privacy import kinds_named, policy_model
from ppdm_flow.policy.language.words import place_name, short
from ppdm_flow.policy.linked import lifted
from ppdm_flow.policy.loaded import PolicyPath, PolicyReading, ResolvedPlaces, UsedParam
from ppdm_flow.policy.params.params import ParamValue, limits_of
from ppdm_flow.policy.project import Project
from ppdm_flow.policy.project_file import project_of
from ppdm_flow.policy.redaction import redacted, telling
from ppdm_flow.policy.requirements import requirements_by_place
from ppdm_flow.policy.rules import judge
from ppdm_flow.policy.rules.gates import NOTHING_REQUIRED, without_requirements
from ppdm_flow.policy.salvage import salvaged
from ppdm_flow.policy.text.merge import without_nulls
from ppdm_flow.policy.text.nodes import Map, MappingEntry, Scalar, UnreadableError
from ppdm_flow.policy.validate import validate

NO_SETS: Mapping[str, str] = MappingProxyType({})
_TOLD = ("PPF314", "PPF203", "PPF205", "PPF208", "PPF529")
"""What makes a floor's own complaint needless: the template has the fault, or the value is of no kind that fits."""
_RAISED = "PPF405"
"""The code of a requirement whose own code raised something."""
NOTHING_OVER: Mapping[PolicyPath, str] = MappingProxyType({})
NOTHING_CHOSEN: Mapping[PolicyPath, Any] = MappingProxyType({})


def load(
    path: Path,
    sets: Mapping[str, str] = NO_SETS,
    over: Mapping[PolicyPath, str] = NOTHING_OVER,
    library: Library | None = None,
    chosen: Mapping[PolicyPath, Any] = NOTHING_CHOSEN,
) -> PolicyReading:
    """Read the policy at ``path``, with ``sets`` (from ``--set``) over its params. Never raises for a bad policy.

    ``over`` (from ``--over``) replaces single values after inheritance and params, and before everything is checked:
    floors hold for them as well. ``chosen`` are the fields of requirements that were chosen from the data.

    Policies that are read one after the other with the same ``sets`` may share a ``library``.

    Raises
    ------
    UsageError
        Where the file itself cannot be read (PPF100).
    """
    files = Files(path, library)
    file = str(path)
    try:
        root, syntax = files.tree(path, file)
    except UnreadableError as error:
        return _hopeless(file, files.sources, error.diagnostic)
    project = project_of(path)
    required = {} if project is None else {each.identity: each.place for each in project.required}
    inheritance = Inheritance(files, sets, required)
    layer = inheritance.resolve(root, FoundTemplate(path, file, str(path.resolve())))
    account = inheritance.account
    layer.laid.node = completed(overridden(layer.node, over), chosen)
    flat, nulls = _resolved(layer, extending=account.extending)
    unusable = _without_unusable_kinds(flat)
    read = lifted(flat)
    policy, faults = validate(read, policy_model(kinds_named(flat.tree)), complete=layer.complete)
    faults = [*unusable, *faults]
    bound = _bound(project, account, root.span)
    every = [
        *syntax,
        *bound,
        *account.diagnostics,
        *nulls,
        *faults,
        *ambiguous(flat),
        *_limits(layer, flat, account, faults),
    ]
    part, out = (policy, frozenset[PolicyPath]()) if policy is not None else salvaged(read)
    if part is not None:
        unknown = frozenset[PolicyPath]() if layer.complete else frozenset[PolicyPath]([()])
        lost = out | read.gone | read.partial | unknown
        every.extend(d for d in judge(part, read.places, lost) if not read.broken_here(d.path))
        every.extend(_unjudged(part, read.places, layer.floors))
    if project is not None:
        every = list(_requiring(every, policy, read.places, project))
    secrets = account.secrets | files.passwords
    every = [redacted(d, secrets) for d in every] if secrets else every
    diagnostics = in_order(_with_users(every, file, account.users))
    readable = not any(d.code == _RAISED for d in diagnostics)
    sound = policy if layer.complete and not flat.gone and readable else None
    hidden = frozenset(path for path, node in read.scalars.items() if not node.quotable)
    return PolicyReading(
        file,
        sound,
        flat.tree,
        read.places,
        files.sources | ({} if project is None else dict(project.texts)),
        diagnostics,
        digest(flat.tree),
        hidden,
        layer.privacy_waivers,
        tuple(layer.floors),
        tuple(_used(layer)),
        account.users,
        telling((*account.secrets, *(read.scalars[path].text or "" for path in hidden))),
        project,
        files.digests,
    )


def _bound(project: Project | None, account: InheritanceRecord, policy: Span) -> list[Diagnostic]:
    """Report the faults of the project file, and required templates that the policy does not extend."""
    return [] if project is None else [*project.faults, *project.missing(account.files, policy)]


def _requiring(
    faults: Iterable[Diagnostic], policy: Policy | None, places: ResolvedPlaces, project: Project
) -> Iterator[Diagnostic]:
    """Yield the faults of a policy below a project file, where one without requirements is an error."""
    for fault in faults:
        yield replace(fault, severity=Severity.ERROR) if fault.code == NOTHING_REQUIRED else fault
    if policy is not None:
        yield from without_requirements(policy, places, f"the project file `{project.shown}`")


def _without_unusable_kinds(flat: FlatPolicy) -> list[Diagnostic]:
    """Take the requirements out whose kinds cannot be loaded, and return why, each at its place."""
    diagnostics = []
    for name, fault in kinds.faults(kinds_named(flat.tree)).items():
        path = ("privacy", name)
        del flat.tree["privacy"][name]
        flat.gone.add(path)
        diagnostics.append(replace(fault, span=flat.places.key(*path), path=path))
    return diagnostics


def _limits(
    layer: PolicyLayer, flat: FlatPolicy, account: InheritanceRecord, faults: Iterable[Diagnostic]
) -> Iterator[Diagnostic]:
    """Report what floors forbid, and what templates say differently.

    A template's own fault is told only there, and what is no value at all is told as that.
    """
    known = {(d.span, d.path) for d in (*account.diagnostics, *faults) if d.code in _TOLD}
    judged = PolicyUnderFloors(flat, next(iter(account.users.values()), None), layer.laid.gone, layer.complete)
    yield from (d for d in violations(judged, layer.floors) if (d.span, d.path) not in known)
    if layer.conflicts:
        yield from unresolved_conflicts(layer.conflicts, flat, layer.floors)


def _unjudged(policy: Policy, places: ResolvedPlaces, floors: Sequence[Floor]) -> Iterator[Diagnostic]:
    """Report requirements with values from the data, of a kind that floors are about: no floor can judge them."""
    for path, requirement in requirements_by_place(policy):
        floor = next((f for f in floors if f.path[0] == path[0] and f.path[1:2] in ((path[1],), (STAR,))), None)
        if requirement.awaits_data and floor is not None:
            yield Diagnostic(
                "PPF499",
                f"`{'.'.join(path)}` protects what is chosen from the data: the floor `{floor.text}` cannot judge it",
                places.key(*path),
                hint="name the values here, or take the floor away",
                related=(RelatedPlace(floor.span, "the floor"),),
                path=path,
            )


def _used(layer: PolicyLayer) -> Iterator[UsedParam]:
    for name, (span, declaration) in layer.declared.items():
        value = layer.values[name]
        help_ = declaration.get("help")
        text = help_.text if isinstance(help_, Scalar) and help_.text else ""
        shown = value.texts if value.quotable and not value.broken else ()
        default = declaration.get("default")
        from_env = not value.quotable and default is not None and ParamValue.of(default).texts != value.texts  # type: ignore[arg-type]
        yield UsedParam(name, shown, text, span, value.span, value.note or "", limits_of(declaration), from_env)


def _resolved(layer: PolicyLayer, *, extending: set[str]) -> tuple[FlatPolicy, list[Diagnostic]]:
    """Flatten what came out of inheritance; nulls that had nothing to delete are left out and reported."""
    nulls: dict[PolicyPath, MappingEntry | Scalar] = {}
    entries = dict(without_nulls(layer.node, nulls.__setitem__).entries)
    if layer.floors:
        entries["floors"] = MappingEntry(layer.floors[0].span, _floors(layer.floors))
    flat = flatten(Map(entries, layer.node.span, layer.node.partial))
    diagnostics = []
    for path, each in nulls.items():
        fault = None if _broken(each) else _null(path, each, flat, extending)
        if fault is None or fault.severity is Severity.ERROR:
            flat.gone.add(path)
        if fault is not None and (layer.complete or fault.severity is Severity.ERROR):
            diagnostics.append(fault)
    return flat, diagnostics


def _floors(floors: Sequence[Floor]) -> Map:
    """Write floors as a file could state them: all that several templates demand of one place, together."""
    texts: dict[str, dict[str, Span]] = {}
    for floor in floors:
        texts.setdefault(floor.text, {}).setdefault(floor.bound_text, floor.span)
    spans = {text: next(iter(bounds.values())) for text, bounds in texts.items()}
    entries = {t: MappingEntry(spans[t], Scalar(" and ".join(bounds), spans[t])) for t, bounds in texts.items()}
    return Map(entries, floors[0].span)


def _broken(each: MappingEntry | Scalar) -> bool:
    node = each.node if isinstance(each, MappingEntry) else each
    return isinstance(node, Scalar) and node.broken


def _null(path: PolicyPath, each: MappingEntry | Scalar, flat: FlatPolicy, extending: set[str]) -> Diagnostic:
    if isinstance(each, Scalar):
        message = f"item {int(path[-1]) + 1} of `{short(path[-2])}` is empty"
        return Diagnostic("PPF210", message, each.span, hint='write "" for the empty text, or "null" for that word')
    name = short(path[-1])
    if each.key_span.file not in extending:
        span = each.key_span
        return Diagnostic("PPF210", f"`{name}` of {place_name(path[:-1])} has no value", span, hint=empty_hint(path))
    siblings = [at_[-1] for at_ in flat.keys if at_[:-1] == path[:-1]]
    return Diagnostic(
        "PPF311",
        f"`{name}: null` deletes nothing: no template has `{'.'.join(path)}`",
        each.key_span,
        Severity.WARNING,
        hint=did_you_mean(path[-1], siblings) or "remove the line",
    )


def _with_users(diagnostics: Iterable[Diagnostic], file: str, users: Mapping[str, Span]) -> list[Diagnostic]:
    """Add to each fault in an inherited file the places that brought that file in."""
    return [replace(d, related=d.related + tuple(_way(d, file, users))) for d in diagnostics]


def _way(each: Diagnostic, file: str, users: Mapping[str, Span]) -> Iterable[RelatedPlace]:
    at_file = each.span.file if each.span else file
    passed: set[str] = set()
    known = {r.span for r in each.related}
    while at_file != file and at_file in users and at_file not in passed:
        passed.add(at_file)
        if users[at_file] not in known:
            yield RelatedPlace(users[at_file], "brought in here")
        at_file = users[at_file].file


def _hopeless(file: str, sources: Mapping[str, str], fault: Diagnostic) -> PolicyReading:
    start = Span(file, 1, 1, 1, 1)
    return PolicyReading(file, None, {}, ResolvedPlaces({}, {(): start}), sources, (fault,), digest({}))
