"""The layers of a file: all that it inherits, and the merge of files side by side."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ppdm_flow.core.diagnostics import Diagnostic, RelatedPlace
from ppdm_flow.core.spans import Span
from ppdm_flow.policy.demands import IsSet
from ppdm_flow.policy.flatten import flatten
from ppdm_flow.policy.floor import Floor, RelativeFloor, Wanted
from ppdm_flow.policy.floors.judging import PolicyUnderFloors, violations
from ppdm_flow.policy.floors.relative import anchored, present
from ppdm_flow.policy.inheritance.joining import Conflict, Declarations, MergedTree, join
from ppdm_flow.policy.params import MissingParam, ParamValue, Permission, together
from ppdm_flow.policy.text.nodes import Map, PolicyPath

FloorIdentity = tuple[PolicyPath, Hashable, Span]
"""Its path, demand and place in a file."""


@dataclass(slots=True)
class PolicyLayer:
    """A file with all that it inherits, params replaced.

    ``relative`` are the floors that go by what is inherited, ``conflicts`` the places that its templates give different
    values, ``unsure`` the params. It is not ``complete`` where something that it inherits could not be read.
    """

    laid: MergedTree
    declared: Declarations = field(default_factory=dict)
    values: dict[str, ParamValue] = field(default_factory=dict)
    needed: list[MissingParam] = field(default_factory=list)
    floors: list[Floor] = field(default_factory=list)
    relative: list[Wanted] = field(default_factory=list)
    conflicts: list[Conflict] = field(default_factory=list)
    unsure: dict[str, tuple[ParamValue, ParamValue]] = field(default_factory=dict)
    complete: bool = True
    privacy_waivers: Permission = field(default_factory=Permission)

    @property
    def node(self) -> Map:
        """What stands in it."""
        return self.laid.node


def joined(root: Map, layers: Sequence[tuple[PolicyLayer, Span]], *, complete: bool) -> PolicyLayer:
    """Return what templates come to side by side; each goes with the place where it is extended."""
    merged = PolicyLayer(MergedTree(Map({}, root.span)), complete=complete)
    for position, (layer, span) in enumerate(layers):
        merged.laid = join(merged.laid, layer.laid, span, merged.conflicts) if position else layer.laid
        _params(merged, layer)
        _floors(merged, layer)
    merged.privacy_waivers = together(layer.privacy_waivers for layer, _ in layers)
    if merged.relative:
        inherit(merged)
    return merged


def inherit(layer: PolicyLayer) -> None:
    """Make floors of what a file inherits, where floors go by that."""
    flat = flatten(layer.node)
    for each in layer.relative:
        if isinstance(each, Floor):
            _add(layer, present(each, flat))
        elif "*" in each.path or each.path == ("attributes",):
            _add(layer, anchored(each, flat))


def state(layer: PolicyLayer, stated: Sequence[Wanted], *, template: bool) -> Iterator[Diagnostic]:
    """Take over a file's own floors; those of a template that it does not keep itself are faults (PPF309, PPF314)."""
    if not stated:
        return
    flat = flatten(layer.node)
    absolute = [f for f in stated if isinstance(f, Floor)]
    there = _identities(layer.floors)
    for each in stated:
        before = len(layer.floors)
        if isinstance(each, Floor):
            starred = each.starred and isinstance(each.demand, IsSet)
            _add(layer, present(each, flat) if starred else [each], there)
        else:
            _add(layer, anchored(each, flat), there)
            if len(layer.floors) == before and "*" not in each.path and not _known(layer, each) and template:
                yield _nothing(each)
        if "*" in each.path or each.path == ("attributes",):
            layer.relative.extend([each] if isinstance(each, RelativeFloor) or isinstance(each.demand, IsSet) else [])
    if template:
        yield from _own_faults(PolicyUnderFloors(flat, complete=False), absolute)


def _known(layer: PolicyLayer, each: RelativeFloor) -> bool:
    """Whether it has made floors before, in the same place."""
    return each.path == ("attributes",) or any(f.span == each.span for f in layer.floors)


def _nothing(each: RelativeFloor) -> Diagnostic:
    text = ".".join(each.path)
    return Diagnostic(
        "PPF309",
        f"`{each.demand.text}` has nothing to compare with: this template does not state `{text}`",
        each.span,
        hint=f"state `{text}` here, or write a bound",
    )


def _own_faults(judged: PolicyUnderFloors, floors: Sequence[Floor]) -> Iterator[Diagnostic]:
    for fault in violations(judged, floors):
        span, related = fault.span, fault.related
        if span is None or fault.notes or any(r.span.file != span.file for r in related):
            continue
        yield Diagnostic(
            "PPF314",
            f"this template does not keep its own floor: {fault.message}",
            span,
            hint="no policy can extend it as it is",
            related=tuple(RelatedPlace(r.span, r.text) for r in related),
            path=fault.path,
        )


def _params(merged: PolicyLayer, layer: PolicyLayer) -> None:
    for name, value in layer.values.items():
        before = merged.values.get(name)
        if before and not before.broken and not value.broken and before.texts != value.texts:
            merged.unsure[name] = (before, value)
    merged.unsure |= layer.unsure
    merged.declared.update(layer.declared)
    merged.values.update(layer.values)
    merged.needed.extend(layer.needed)


def _floors(merged: PolicyLayer, layer: PolicyLayer) -> None:
    _add(merged, layer.floors)
    merged.relative.extend(r for r in layer.relative if r not in merged.relative)
    merged.conflicts.extend(c for c in layer.conflicts if c not in merged.conflicts)


def _add(layer: PolicyLayer, floors: Iterable[Floor], there: set[FloorIdentity] | None = None) -> None:
    """Add floors; one that demands the same of the same place on behalf of the same line is there already.

    ``there`` are the identities of the layer's floors, where the caller has them.
    """
    there = _identities(layer.floors) if there is None else there
    for floor in floors:
        identity = _identity(floor)
        if identity not in there:
            there.add(identity)
            layer.floors.append(floor)


def _identity(floor: Floor) -> FloorIdentity:
    return floor.path, floor.demand, floor.span


def _identities(floors: Iterable[Floor]) -> set[FloorIdentity]:
    return set(map(_identity, floors))
