"""Reads a policy: text, inheritance and params, shape, rules. The outcome holds all faults."""

from __future__ import annotations

import copy
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pydantic import ValidationError

from ppdm_flow.core.diagnostics import Diagnostic, RelatedPlace, Severity, in_order
from ppdm_flow.core.digests import digest
from ppdm_flow.core.spans import Span
from ppdm_flow.core.suggest import did_you_mean
from ppdm_flow.policy.files import Files, Library
from ppdm_flow.policy.flatten import FlatPolicy, flatten
from ppdm_flow.policy.floor import STAR, Floor
from ppdm_flow.policy.floors.judging import PolicyUnderFloors, violations
from ppdm_flow.policy.inheritance.inherit import Inheritance, InheritanceRecord
from ppdm_flow.policy.inheritance.joining import unresolved_conflicts
from ppdm_flow.policy.inheritance.layers import PolicyLayer
from ppdm_flow.policy.inheritance.override import completed, overridden
from ppdm_flow.policy.inheritance.references import FoundTemplate
from ppdm_flow.policy.language.kinds import RequirementSpec, faults, kinds_among, places_below
from ppdm_flow.policy.language.models import Policy
from ppdm_flow.policy.language.shape import FixedKeys, MapOf, at, kinds_named, placed, policy_model
from ppdm_flow.policy.language.words import place_name, short
from ppdm_flow.policy.linked import lifted
from ppdm_flow.policy.loaded import PolicyPath, PolicyReading, Project, ResolvedPlaces, UsedParam
from ppdm_flow.policy.params import ParamValue, limits_of
from ppdm_flow.policy.project_file import project_of
from ppdm_flow.policy.redaction import redacted, telling
from ppdm_flow.policy.requirements import requirements_by_place
from ppdm_flow.policy.rules import judge
from ppdm_flow.policy.rules.gates import NOTHING_REQUIRED, without_requirements
from ppdm_flow.policy.text.nodes import Map, MappingEntry, Scalar, UnreadableError, without_nulls
from ppdm_flow.policy.validate import empty_hint, validate

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
    for name, fault in faults(kinds_named(flat.tree)).items():
        path = ("privacy", name)
        del flat.tree["privacy"][name]
        flat.gone.add(path)
        diagnostics.append(replace(fault, span=flat.places.key(*path), path=path))
    return diagnostics


def _limits(
    layer: PolicyLayer, flat: FlatPolicy, account: InheritanceRecord, faults: Iterable[Diagnostic]
) -> Iterator[Diagnostic]:
    """Report values that floors forbid, and values that templates disagree on.

    A template's own fault is reported only there, and a text that is no value at all is reported as that.
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


# Data values written without quotes that other YAML readers would take for something else (PPF110).
#
# This reader takes every scalar as text, so the policy means what it says; but an editor, a linter or a colleague's
# script that reads the same file sees `NO` as false, `010` as 8 or 10, `12:30` as 750.


_VALUES = (
    ("attributes", "*", "domain", "*"),
    ("attributes", "*", "hierarchy", "levels", "*", "*"),
    ("attributes", "*", "hierarchy", "order", "*"),
    ("source", "columns", "*"),
    ("source", "missing", "*"),
)
_KEYS = (("attributes", "*", "hierarchy", "levels", "*"),)

_WORD = re.compile(r"(?i:true|false|yes|no|on|off|null)\Z|~\Z")
_DATE = re.compile(r"\d{4}-\d\d?-\d\d?(?:[Tt ].*)?\Z")
_SIXTIES = re.compile(r"[-+]?\d[\d_]*(?::[0-5]?\d)+(?:\.\d*)?\Z")
_NUMBER = re.compile(
    r"[-+]?(?:0[xX][0-9a-fA-F_]+|0o?[0-7_]+|0b[01_]+|(?:[\d_]+\.?[\d_]*|\.[\d_]+)(?:[eE][-+]?\d+)?|\.(?i:inf|nan))\Z"
)
_WHOLE = re.compile(r"-?(?:0|[1-9]\d{0,14})\Z")


def reading(text: str) -> str | None:
    """Say what another YAML reader makes of a plain scalar, or None where nothing is lost.

    A number that comes back as it was written (``5``, ``-2``, ``1.5``) is harmless.
    """
    if _WORD.match(text):
        return "nothing" if text.lower() in ("null", "~") else "true or false"
    if _DATE.match(text):
        return "a date"
    if _SIXTIES.match(text):
        return "a number to base 60"
    if _NUMBER.match(text) and not set(text) <= set("._+-") and not _comes_back(text):
        return "a number, written otherwise"
    return None


def _comes_back(number: str) -> bool:
    """Whether a reader that takes it for a number writes the same text again."""
    if _WHOLE.match(number):
        return True
    try:
        return "." in number and repr(float(number)) == number
    except ValueError:
        return False


def _by_place(patterns: Iterable[PolicyPath]) -> Mapping[tuple[int, str], list[PolicyPath]]:
    """Patterns by their length and first key: few of a policy's values are near one."""
    paths_at: dict[tuple[int, str], list[PolicyPath]] = {}
    for pattern in patterns:
        paths_at.setdefault((len(pattern), pattern[0]), []).append(pattern)
    return paths_at


def _below_entries(
    kinds: Iterable[RequirementSpec], places: Callable[[RequirementSpec], Iterable[PolicyPath]]
) -> Iterator[PolicyPath]:
    """Yield the places at which requirements name values of the data."""
    for spec in kinds:
        yield from (place for below in places(spec) for place in places_below(spec, below))


def ambiguous(flat: FlatPolicy) -> Iterator[Diagnostic]:
    """Warn once for each list or map with such values, at the first of them."""
    kinds = kinds_among(kinds_named(flat.tree))
    values = _by_place((*_VALUES, *_below_entries(kinds, lambda spec: spec.value_places)))
    keys = _by_place((*_KEYS, *_below_entries(kinds, lambda spec: spec.value_keys)))
    groups: defaultdict[PolicyPath, list[tuple[Span, str, str]]] = defaultdict(list)
    for path, node in flat.scalars.items():
        if node.plain and node.text and _fits(path, values):
            meaning = reading(node.text)
            if meaning:
                groups[path[:-1]].append((node.span, node.text, meaning))
    for path, span in flat.keys.items():
        if path not in flat.quoted_keys and _fits(path, keys):
            meaning = reading(path[-1])
            if meaning:
                groups[path[:-1]].append((span, path[-1], meaning))
    for path, each in groups.items():
        span, text, meaning = min(each)
        more = f", and {len(each) - 1} more here likewise" if len(each) > 1 else ""
        yield Diagnostic(
            "PPF110",
            f"other programs read `{short(text)}` without quotes as {meaning}{more}",
            span,
            Severity.WARNING,
            hint=f'write "{short(text)}"',
            path=path,
        )


def _fits(path: PolicyPath, patterns: Mapping[tuple[int, str], list[PolicyPath]]) -> bool:
    near = patterns.get((len(path), path[0])) if path else None
    return near is not None and any(all(a in ("*", b) for a, b in zip(p, path, strict=True)) for p in near)


# What can still be judged of a policy whose shape is wrong somewhere: the rest of it.


_ROUNDS = 4
_STAND_INS: dict[str, Any] = {
    "version": "1",
    "name": "policy",
    "attributes": {"attribute": {"role": "insensitive"}},
    "releases": {"release": {"path": "release"}},
}


def salvaged(flat: FlatPolicy) -> tuple[Policy | None, frozenset[PolicyPath]]:
    """Return the policy without its faulty entries, and the paths of what was left out or stood in for.

    None where not even that gives a policy.
    """
    tree = copy.deepcopy(flat.tree)
    out: set[PolicyPath] = set(flat.gone)
    model = policy_model(kinds_named(tree))
    for _ in range(_ROUNDS):
        try:
            return model.model_validate(tree, by_alias=True, by_name=False), frozenset(out)
        except ValidationError as error:
            for each in error.errors(include_url=False, include_input=False, include_context=False):
                out.add(_without(tree, placed(each["loc"], tree), each["type"]))
    return None, frozenset(out)


def _without(tree: dict[str, Any], loc: PolicyPath, kind: str) -> PolicyPath:
    """Take the smallest entry out of the tree that the policy can do without, and return its path."""
    path = loc[:-1] if loc and loc[-1] == "[key]" else loc
    if kind != "extra_forbidden":
        while len(path) > 1 and not _dispensable(path):
            path = path[:-1]
    _remove(tree, path)
    return path


def _dispensable(path: PolicyPath) -> bool:
    above = at(path[:-1])
    if isinstance(above, FixedKeys):
        return path[-1] in above.keys and not above.keys[path[-1]].required
    return isinstance(above, MapOf)


def _remove(tree: dict[str, Any], path: PolicyPath) -> None:
    node: Any = tree
    for part in path[:-1]:
        if not isinstance(node, dict) or part not in node:
            return
        node = node[part]
    if isinstance(node, dict):
        node.pop(path[-1], None)
    if len(path) == 1 and path[0] in _STAND_INS:
        tree[path[0]] = copy.deepcopy(_STAND_INS[path[0]])
