"""A resolved policy against the floors of its templates: every place that does not meet them (PPF308)."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import chain
from typing import Any

from ppdm_flow.core.diagnostics import Diagnostic, RelatedPlace
from ppdm_flow.core.roles import Nulls, Role
from ppdm_flow.core.spans import Span
from ppdm_flow.core.supports import parsed
from ppdm_flow.policy.demands import (
    Demand,
    EqualTo,
    FigureBound,
    GroupsBy,
    HasAll,
    IsSet,
    IsUnset,
    NotWeaker,
    OneOf,
    SubsetOf,
    keys_or_items,
    quoted,
)
from ppdm_flow.policy.flatten import FlatPolicy
from ppdm_flow.policy.floor import Floor
from ppdm_flow.policy.floors.strength import (
    MISSING,
    UNIT,
    FloorPlace,
    counts_rows,
    everything_where_absent,
    fitting,
    handled,
    keeps,
    needed,
    value,
)
from ppdm_flow.policy.language.patterns import is_pattern
from ppdm_flow.policy.language.shape import Number, at
from ppdm_flow.policy.language.words import short
from ppdm_flow.policy.params import number_or_percentage
from ppdm_flow.policy.text.nodes import PolicyPath

_KIND = 2
"""Parts of ``privacy.KIND``."""
_RELEASES = "releases"
_WANTED = ("privacy", "approvals")
"""Sections of which the lack is weaker than anything that they may say."""
_ROLE = 3
"""Parts of ``attributes.NAME.role``."""


@dataclass(frozen=True, slots=True)
class PolicyUnderFloors:
    """The view of a policy that floors are checked against.

    ``gone`` are the places of the ``null`` that took something inherited away. ``use`` is the place to report where
    something is missing altogether. A policy that is not ``complete`` may have it in what could not be read.
    """

    flat: FlatPolicy
    use: Span | None = None
    gone: Mapping[PolicyPath, Span] = field(default_factory=dict)
    complete: bool = True


def violations(judged: PolicyUnderFloors, floors: Collection[Floor]) -> Iterator[Diagnostic]:
    """Report every place below a floor, and everything that a floor needs and the policy lacks (PPF308).

    What one ``null`` takes away is reported once for each floor: the outermost part of it.
    """
    lost: dict[tuple[Span | None, Span], Diagnostic] = {}
    narrowing = {here: span for here, span in judged.flat.keys.items() if here[-1:] == (_RELEASES,)}
    for floor in floors:
        for place in _about(judged.flat, floor, floors):
            for fault in chain(_narrowed(narrowing, floor, place.path), _violation(judged, floor, place)):
                key = (fault.span, floor.span)
                if not _taken(judged, fault.path):
                    yield fault
                elif key not in lost or len(fault.path) < len(lost[key].path):
                    lost[key] = fault
    yield from lost.values()


def _about(flat: FlatPolicy, floor: Floor, floors: Iterable[Floor]) -> Iterator[FloorPlace]:
    """Yield the places that a floor is about.

    Of the floors of one file, one under an attribute's own name goes before one under a pattern that fits the name.
    """
    for place in fitting(flat.tree, floor.path):
        name = floor.path[1] if _of_role(floor.path) else ""
        if is_pattern(name) and name != "*" and place.path[1] != name:
            own = (f for f in floors if _of_role(f.path) and f.path[1] == place.path[1])
            if any(f.span.file == floor.span.file for f in own):
                continue
        yield place


def _violation(judged: PolicyUnderFloors, floor: Floor, place: FloorPlace) -> Iterator[Diagnostic]:
    flat = judged.flat
    tree = value(flat.tree, place.path)
    if tree is MISSING:
        if _wants(floor, place, flat.tree) and judged.complete and not flat.broken_here(place.path):
            yield _missing(judged, floor, place.path)
        return
    if flat.broken_here(place.path) or flat.lost_below(place.path) or _met(floor.demand, place.path, flat.tree, tree):
        return
    yield _below(judged, floor, place, tree)


def _narrowed(narrowing: Mapping[PolicyPath, Span], floor: Floor, path: PolicyPath) -> Iterator[Diagnostic]:
    """Report a clause that a floor is about, and that another file makes one about some releases only.

    ``narrowing`` are the keys ``releases`` of the policy.
    """
    if path[0] != "privacy" or len(path) < _KIND or path[-1] == _RELEASES:
        return
    for here, span in narrowing.items():
        clause = here[:-1]
        if clause[:_KIND] != path[:_KIND] or path[: len(clause)] not in (clause, path):
            continue
        if len(clause) <= _KIND + 1 and span.file != floor.span.file:
            text = ".".join(clause)
            yield Diagnostic(
                "PPF308",
                f"a floor is about `{text}`, and here that is made to hold of some releases only",
                span,
                hint="remove `releases`",
                related=_related(floor),
                path=here,
            )


def _met(demand: Demand, path: PolicyPath, tree: Any, here: Any) -> bool:
    """A role counts as it is handled: what a step replaces is no longer kept back as an identifier."""
    if _of_role(path) and isinstance(demand, NotWeaker) and here == Role.IDENTIFIER and demand.than != here:
        return meets(demand, path, here) and not handled(path[1], tree)
    more = counts_rows(tree) and value(tree, ("nulls",)) == Nulls.OWN_CATEGORY
    return meets(demand, path, here, more_attributes=more)


def _of_role(path: PolicyPath) -> bool:
    return len(path) == _ROLE and path[0] == "attributes" and path[2] == "role"


def _wants(floor: Floor, place: FloorPlace, tree: Any) -> bool:
    """Whether a floor asks for something that is not there, and has no default."""
    if isinstance(floor.demand, IsUnset) or (place.path[0] == "attributes" and _of_role(place.path)):
        return False  # a column that nothing declares never passes
    if isinstance(floor.demand, HasAll) and everything_where_absent(place.path):
        return False
    if isinstance(floor.demand, FigureBound) and floor.starred:
        return needed(place.path)
    if isinstance(floor.demand, FigureBound | IsSet) or place.path[0] in _WANTED:
        return True
    return value(tree, place.path[:-1]) is not MISSING


def _missing(judged: PolicyUnderFloors, floor: Floor, path: PolicyPath) -> Diagnostic:
    text = ".".join(path)
    taken = _taken(judged, path)
    what = "figure" if isinstance(floor.demand, FigureBound) else "entry"
    message = f"a floor requires `{text}` to {floor.words}, but this policy has no such {what}"
    if taken is not None:
        message = f"a floor requires `{text}` to {floor.words}, but it is removed here"
    own = judged.flat.keys.get(path[:-1]) if floor.starred else None  # the name that the floor is about stands there
    span = taken or own or judged.use
    hint = "remove the `null`" if taken else f"state `{text}`" if span else None
    return Diagnostic(
        "PPF308", message, span or floor.span, hint=hint, related=_related(floor) if span else (), path=path
    )


def _taken(judged: PolicyUnderFloors, path: PolicyPath) -> Span | None:
    """Return the place of the ``null`` that took away what was at ``path``, if it is not there any more."""
    if value(judged.flat.tree, path) is not MISSING:
        return None
    lengths = range(len(path), 0, -1)
    return next((judged.gone[path[:n]] for n in lengths if path[:n] in judged.gone), None)


def _below(judged: PolicyUnderFloors, floor: Floor, place: FloorPlace, tree: Any) -> Diagnostic:
    node = judged.flat.scalars.get(place.path)
    quotable = node is None or node.quotable
    short = shortfall(floor.demand, tree) if quotable else ""
    by_default = "" if place.path in judged.flat.values or not short else " by default"
    span = judged.flat.values.get(place.path) or judged.flat.places.key(*place.path)
    own = isinstance(floor.demand, IsUnset)
    return Diagnostic(
        "PPF308",
        f"`{'.'.join(place.path)}` must {floor.words}" + (f"; {short}{by_default}" if short else ""),
        judged.flat.keys.get(place.path, span) if own or _long(span) else span,
        hint=_hint(judged.flat, place.path, tree),
        related=(*_related(floor), *(node.origin if node else ())),
        notes=node.notes if node else (),
        path=place.path,
    )


def _hint(flat: FlatPolicy, path: PolicyPath, tree: Any) -> str:
    if path == UNIT and tree != "rows":
        return "shares of people bound no shares of rows: only a template that says `people` itself is about people"
    if path not in flat.values:
        return f"state `{'.'.join(path)}`"
    if _of_role(path) and tree == Role.IDENTIFIER:
        return "a step replaces it, so that it is not kept back"
    return "a floor forbids this"


def _long(span: Span | None) -> bool:
    return span is not None and span.end_line > span.line


def _related(floor: Floor) -> tuple[RelatedPlace, ...]:
    own = RelatedPlace(floor.span, "the floor")
    return (own, RelatedPlace(floor.anchor, "what the template says")) if floor.anchor else (own,)


# Whether a value meets a demand.


_COMPARE: Mapping[str, Callable[[Decimal, Decimal], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "==": operator.eq,
}


_BY_MORE = (
    "here by nothing else, since more attributes ask for more only where rows are counted and `nulls` is `own_category`"
)


def meets(demand: Demand, path: PolicyPath, tree: Any, *, more_attributes: bool = True) -> bool:
    """Whether ``tree``, which stands at ``path`` (``MISSING`` if nothing does), meets the demand.

    ``more_attributes``: groups over more of them bound those over fewer.
    """
    if isinstance(demand, IsUnset) or tree is MISSING:
        return isinstance(demand, IsUnset) and tree is MISSING
    if isinstance(demand, IsSet):
        return True
    if isinstance(demand, HasAll):
        return set(demand.wanted) <= set(keys_or_items(tree))
    if isinstance(demand, SubsetOf):
        return set(keys_or_items(tree)) <= set(demand.wanted)
    if isinstance(demand, GroupsBy):
        given = set(keys_or_items(tree))
        return given >= set(demand.wanted) if more_attributes else given == set(demand.wanted)
    if isinstance(demand, EqualTo):
        return _same(demand.tree, tree, numeric=isinstance(at(path), Number))
    if isinstance(demand, FigureBound):
        figure = _figure(demand, tree)
        shape = at(path)
        if demand.percentage and not demand.unit and not (isinstance(shape, Number) and shape.share):
            return False
        return figure is not None and _COMPARE[demand.sign](figure, demand.figure)
    if not isinstance(tree, str):
        return False
    if isinstance(demand, OneOf):
        return tree in demand.wanted
    return keeps(path, tree, demand.than) if isinstance(demand, NotWeaker) else False


def shortfall(demand: Demand, tree: Any) -> str:
    """Say how a value fails to meet the demand: ``it is 3``, `` `HIV` is missing``; empty where that says nothing."""
    if isinstance(demand, HasAll | GroupsBy):
        lost = tuple(w for w in demand.wanted if w not in keys_or_items(tree))
        return f"{quoted(lost)} {'is' if len(lost) == 1 else 'are'} missing" if lost else _BY_MORE
    if isinstance(demand, SubsetOf):
        more = tuple(k for k in keys_or_items(tree) if k not in demand.wanted)
        return f"{quoted(more)} {'is' if len(more) == 1 else 'are'} there too"
    if isinstance(tree, str) and not isinstance(demand, IsUnset):
        return f"it is {short(tree)}" if isinstance(demand, FigureBound) else f"it is `{short(tree)}`"
    return ""


def _figure(demand: FigureBound, tree: Any) -> Decimal | None:
    """The figure of a value, in the unit of the bound; None where it has none, or another unit."""
    if not demand.unit:
        return number_or_percentage(tree) if isinstance(tree, str) else None
    try:
        figure = parsed(tree).document.get(demand.unit)
    except ValueError:
        return None
    return None if figure is None else Decimal(str(figure))


def _same(wanted: Any, tree: Any, *, numeric: bool) -> bool:
    if numeric and isinstance(wanted, str) and isinstance(tree, str):
        return number_or_percentage(wanted) == number_or_percentage(tree)
    if isinstance(wanted, dict) and isinstance(tree, Mapping):
        return wanted.keys() == tree.keys() and all(_same(v, tree[k], numeric=False) for k, v in wanted.items())
    if isinstance(wanted, list) and isinstance(tree, list):
        return len(wanted) == len(tree) and all(_same(a, b, numeric=False) for a, b in zip(wanted, tree, strict=True))
    return bool(wanted == tree)
