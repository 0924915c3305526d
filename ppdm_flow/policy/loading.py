"""Reading a policy: text, inheritance and params, shape, rules; whatever is wrong is in the outcome."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from ppdm_flow.core.diagnostics import Diagnostic, Related, Severity, in_order
from ppdm_flow.core.digests import digest
from ppdm_flow.core.spans import Span
from ppdm_flow.core.suggest import closest
from ppdm_flow.policy.advice import empty_hint
from ppdm_flow.policy.ambiguous import ambiguous
from ppdm_flow.policy.faults import UnreadableError
from ppdm_flow.policy.files import Files
from ppdm_flow.policy.flatten import Flat, flatten
from ppdm_flow.policy.floors import violations
from ppdm_flow.policy.inherit import Inheritance, Layer
from ppdm_flow.policy.loaded import Loaded, Places, PolicyPath
from ppdm_flow.policy.merge import without_nulls
from ppdm_flow.policy.models import Policy
from ppdm_flow.policy.nodes import Entry, Map, Scalar
from ppdm_flow.policy.override import overridden
from ppdm_flow.policy.redaction import redacted
from ppdm_flow.policy.references import Found
from ppdm_flow.policy.rules import judge
from ppdm_flow.policy.salvage import salvaged
from ppdm_flow.policy.validate import validate
from ppdm_flow.policy.words import place_name, short

NO_SETS: Mapping[str, str] = MappingProxyType({})
NOTHING_OVER: Mapping[PolicyPath, str] = MappingProxyType({})


def load(path: Path, sets: Mapping[str, str] = NO_SETS, over: Mapping[PolicyPath, str] = NOTHING_OVER) -> Loaded:
    """Read the policy at ``path``, with ``sets`` (from ``--set``) over its params. Never raises for a bad policy.

    ``over`` (from ``--over``) replaces single values after inheritance and params, and before everything is checked:
    floors hold for them as well.

    Raises
    ------
    UsageError
        Where the file itself cannot be read (PPF100).
    """
    files = Files(path)
    file = str(path)
    try:
        root, found = files.tree(path, file)
    except UnreadableError as error:
        return _hopeless(file, files.sources, error.diagnostic)
    inheritance = Inheritance(files, sets)
    layer = inheritance.resolve(root, Found(path, file, str(path.resolve())))
    layer.node = overridden(layer.node, over)
    flat, nulls = _resolved(layer, extending=inheritance.extending)
    policy, faults = validate(flat, Policy, whole=layer.whole)
    use = next(iter(inheritance.users.values()), None)
    every = [*found, *inheritance.found, *nulls, *faults, *ambiguous(flat), *violations(flat, layer.floors, use)]
    part, out = (policy, frozenset[PolicyPath]()) if policy is not None else salvaged(flat)
    if part is not None:
        unknown = frozenset[PolicyPath]() if layer.whole else frozenset[PolicyPath]([()])
        lost = out | flat.gone | flat.partial | unknown
        every.extend(d for d in judge(part, flat.places, lost) if not flat.broken_here(d.path))
    secrets = inheritance.secrets | files.passwords
    every = [redacted(d, secrets) for d in every] if secrets else every
    diagnostics = in_order(_with_users(every, file, inheritance.users))
    sound = policy if layer.whole and not flat.gone else None
    hidden = frozenset(path for path, node in flat.scalars.items() if not node.quotable)
    return Loaded(
        file,
        sound,
        flat.tree,
        flat.places,
        files.sources,
        diagnostics,
        digest(flat.tree),
        hidden,
        layer.privacy_waivers,
    )


def _resolved(layer: Layer, *, extending: set[str]) -> tuple[Flat, list[Diagnostic]]:
    """Flatten what came out of inheritance; nulls that had nothing to delete are left out and reported."""
    nulls: dict[PolicyPath, Entry | Scalar] = {}
    entries = dict(without_nulls(layer.node, nulls.__setitem__).entries)
    if layer.floors:
        floors = {f.text: Entry(f.span, Scalar(f.bound_text, f.span)) for f in reversed(layer.floors)}
        entries["floors"] = Entry(layer.floors[0].span, Map(floors, layer.floors[0].span))
    flat = flatten(Map(entries, layer.node.span, layer.node.partial))
    found = []
    for path, each in nulls.items():
        fault = None if _broken(each) else _null(path, each, flat, extending)
        if fault is None or fault.severity is Severity.ERROR:
            flat.gone.add(path)
        if fault is not None and (layer.whole or fault.severity is Severity.ERROR):
            found.append(fault)
    return flat, found


def _broken(each: Entry | Scalar) -> bool:
    node = each.node if isinstance(each, Entry) else each
    return isinstance(node, Scalar) and node.broken


def _null(path: PolicyPath, each: Entry | Scalar, flat: Flat, extending: set[str]) -> Diagnostic:
    if isinstance(each, Scalar):
        message = f"item {int(path[-1]) + 1} of `{short(path[-2])}` is empty"
        return Diagnostic("PPF210", message, each.span, hint='write "" for the empty text, or "null" for that word')
    name = short(path[-1])
    if each.key_span.file not in extending:
        span = each.key_span
        return Diagnostic("PPF210", f"`{name}` of {place_name(path[:-1])} has no value", span, hint=empty_hint(path))
    siblings = [at_[-1] for at_ in flat.keys if at_[:-1] == path[:-1]]
    near = closest(path[-1], siblings)
    return Diagnostic(
        "PPF311",
        f"`{name}: null` deletes nothing: no template has `{'.'.join(path)}`",
        each.key_span,
        Severity.WARNING,
        hint=f"did you mean `{near}`?" if near else "remove the line",
    )


def _with_users(found: Iterable[Diagnostic], file: str, users: Mapping[str, Span]) -> list[Diagnostic]:
    """Add to each fault in an inherited file the places that brought that file in."""
    return [replace(d, related=d.related + tuple(_way(d, file, users))) for d in found]


def _way(each: Diagnostic, file: str, users: Mapping[str, Span]) -> Iterable[Related]:
    at_file = each.span.file if each.span else file
    passed: set[str] = set()
    known = {r.span for r in each.related}
    while at_file != file and at_file in users and at_file not in passed:
        passed.add(at_file)
        if users[at_file] not in known:
            yield Related(users[at_file], "brought in here")
        at_file = users[at_file].file


def _hopeless(file: str, sources: Mapping[str, str], fault: Diagnostic) -> Loaded:
    start = Span(file, 1, 1, 1, 1)
    return Loaded(file, None, {}, Places({}, {(): start}), sources, (fault,), digest({}))
