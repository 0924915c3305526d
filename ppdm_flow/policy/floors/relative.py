"""``not weaker``, ``keeps all`` and ``present`` for any name: demands that go by what a template itself says.

Each becomes plain floors, one for every value that a policy could make weaker.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any

from ppdm_flow.core.model import Model
from ppdm_flow.core.spans import Span
from ppdm_flow.core.supports import parsed
from ppdm_flow.policy.demands import (
    KEEPS_ALL,
    Demand,
    EqualTo,
    FigureBound,
    GroupsBy,
    HasAll,
    IsSet,
    IsUnset,
    NotWeaker,
    SubsetOf,
    keys_or_items,
)
from ppdm_flow.policy.flatten import FlatPolicy
from ppdm_flow.policy.floor import Floor, RelativeFloor
from ppdm_flow.policy.floors.strength import (
    COUNTED_BY,
    MISSING,
    UNIT,
    everything_where_absent,
    fitting,
    forms_groups,
    longer_is_stronger,
    ordered,
    rests_on,
    sign,
    value,
)
from ppdm_flow.policy.language.shape import (
    FixedKeys,
    FreeShape,
    ListOf,
    MapOf,
    Number,
    Shape,
    SupportShape,
    Text,
    as_written,
    at,
    model_for,
    whole_model,
)
from ppdm_flow.policy.params import number_or_percentage
from ppdm_flow.policy.text.nodes import PolicyPath

_WORDS_ONLY = frozenset({"description", "given", "owner"})
_COMPARED = frozenset({"privacy", "gates", "approvals"})
_OUT_OF_DEFAULT = frozenset({"values", "groups"})


def comparable(path: PolicyPath, shape: Shape | None) -> bool:
    """Whether ``not weaker`` and ``keeps all`` mean something at ``path``."""
    if path[0] in _COMPARED or path in (("attributes",), ("attributes", "*")):
        return True
    return bool(sign(path) or ordered(path)) or isinstance(shape, ListOf | MapOf)


def anchored(relative: RelativeFloor, flat: FlatPolicy) -> Iterator[Floor]:
    """Yield plain floors for everything that the tree of a template states in the places of a relative floor."""
    roles = (("attributes",), ("attributes", "*"))
    path = ("attributes", "*", "role") if relative.path in roles and relative.demand != KEEPS_ALL else relative.path
    for place, tree in _stated(path, flat.tree).items():
        demands = _kept(place, tree) if relative.demand == KEEPS_ALL else _demands(_shape(place, tree), place, tree)
        yield from _located(demands, relative.span, flat)
        if relative.demand != KEEPS_ALL:
            yield from _located(_beside(place, tree, flat.tree), relative.span, flat)


def _shape(path: PolicyPath, tree: Any) -> Shape | None:
    """Return what stands at a place; under ``privacy`` also what kinds of other packages that are named there take."""
    is_privacy = path == ("privacy",) and isinstance(tree, Mapping)
    return at(path, whole_model(map(str, tree))) if is_privacy else at(path)


def _stated(path: PolicyPath, tree: Any) -> dict[PolicyPath, Any]:
    """Return what stands in the places of a path; positions in lists left out.

    A list of several gives its items: nobody knows which of them an heir's items would have to keep.
    """
    stated: dict[PolicyPath, Any] = {}
    for place in fitting(tree, path):
        here, owner = place.path, value(tree, place.path)
        for n, part in enumerate(here):
            above = value(tree, here[:n])
            if isinstance(above, list) and part.isdecimal():
                here, owner = (here[:n], above) if len(above) > 1 else ((*here[:n], *here[n + 1 :]), owner)
                break
        if owner is not MISSING:
            stated[here] = owner
    return stated


def _beside(path: PolicyPath, here: Any, tree: Any) -> Iterator[tuple[PolicyPath, Demand]]:
    for place in dict.fromkeys(rests_on(path, here, tree)):
        if place == UNIT:
            yield place, EqualTo.of("rows")
            continue
        own = value(tree, place)
        if isinstance(own, str) and own in COUNTED_BY:  # without the column, another one could say whose rows they are
            yield place[:-1], IsSet()
        if isinstance(own, Mapping):
            yield place, IsSet()
        if own is not MISSING:
            yield from _demands(at(place), place, own)


def present(floor: Floor, flat: FlatPolicy) -> Iterator[Floor]:
    """Yield a floor for each name that the tree of a template has where a floor wants any name ``present``."""
    for place in fitting(flat.tree, floor.path):
        if place.stated:
            yield from _located([(place.path, IsSet())], floor.span, flat)


def _located(demands: Iterable[tuple[PolicyPath, Demand]], span: Span, flat: FlatPolicy) -> Iterator[Floor]:
    for path, demand in demands:
        yield Floor(path, demand, span, flat.keys.get(path))


def _kept(path: PolicyPath, tree: Any) -> Iterator[tuple[PolicyPath, Demand]]:
    names = keys_or_items(tree)
    if names:
        yield path, HasAll(names)


def _demands(shape: Shape | None, path: PolicyPath, tree: Any) -> Iterator[tuple[PolicyPath, Demand]]:
    """Yield what keeps the value at ``path``, and everything below it, from getting weaker."""
    shape = as_written(shape, tree)
    if isinstance(shape, FixedKeys) and isinstance(tree, Mapping):
        yield from _of_keys(shape, path, tree)
    elif isinstance(shape, MapOf) and isinstance(tree, Mapping):
        for name, below in tree.items():
            yield (*path, name), IsSet()
            yield from _demands(shape.value, (*path, name), below)
    elif isinstance(shape, ListOf):
        yield from _of_list(shape, path, tree)
    elif isinstance(shape, FreeShape):
        yield path, EqualTo.of(tree)
    elif isinstance(tree, str | Mapping):
        yield from _of_value(shape, path, tree)


def _of_keys(shape: FixedKeys, path: PolicyPath, tree: Mapping[str, Any]) -> Iterator[tuple[PolicyPath, Demand]]:
    apart = path[:1] == ("privacy",) and "default" in shape.keys and "default" in tree
    for name, key in shape.keys.items():
        below = (*path, name)
        if name in _WORDS_ONLY:
            continue
        if apart and name in _OUT_OF_DEFAULT:
            yield from _no_more(below, tree.get(name))
        if name in tree:
            if isinstance(key.shape, FixedKeys) and len(below) == 2:
                yield below, IsSet()
            yield from _demands(key.shape, below, tree[name])
        elif (default := value(tree_at(path, tree), below)) is not MISSING:
            yield from _demands(key.shape, below, default)
        elif not _adds(below, key.shape):
            yield below, IsUnset()


def _no_more(path: PolicyPath, tree: Any) -> Iterator[tuple[PolicyPath, Demand]]:
    """Yield what keeps values from getting bounds of their own: each would be out of the default."""
    if tree is None:
        yield path, IsUnset()
    elif path[-1] == "groups":
        yield path, EqualTo.of(tree)
    else:
        yield path, SubsetOf(keys_or_items(tree))


def tree_at(path: PolicyPath, tree: Any) -> Any:
    """Return a tree that holds nothing but ``tree``, at ``path``."""
    for part in reversed(path):
        tree = {part: tree}
    return tree


def _adds(path: PolicyPath, shape: Shape) -> bool:
    """Whether something that the template does not state can only ask for more."""
    if everything_where_absent(path):
        return False
    is_additive = path[0] in ("gates", "approvals") or (path[0] == "privacy" and len(path) == 2)
    return is_additive or bool(sign(path)) or _bounds(path, shape)


def _bounds(path: PolicyPath, shape: Shape) -> bool:
    owner = at(path[:-1], model_for(path))
    adds = isinstance(owner, FixedKeys) and issubclass(owner.model, Model) and owner.model.adds_only
    return adds and isinstance(shape, FixedKeys | MapOf)


def _of_list(shape: ListOf, path: PolicyPath, tree: Any) -> Iterator[tuple[PolicyPath, Demand]]:
    if shape.single and isinstance(tree, Mapping):
        yield from _demands(shape.item, path, tree)
    elif shape.single and isinstance(tree, list) and len(tree) == 1:
        yield from _demands(shape.item, path, tree[0])
    elif forms_groups(path) and keys_or_items(tree):
        yield path, GroupsBy(keys_or_items(tree))
    elif longer_is_stronger(path) and keys_or_items(tree):
        yield path, HasAll(keys_or_items(tree))
    else:
        yield path, EqualTo.of(tree)


def _of_value(shape: Shape | None, path: PolicyPath, tree: Any) -> Iterator[tuple[PolicyPath, Demand]]:
    way = sign(path)
    if isinstance(shape, SupportShape):
        yield from _of_amount(path, tree)
    elif isinstance(shape, Number):
        figure = number_or_percentage(tree) if isinstance(tree, str) else None
        if figure is not None:
            yield path, FigureBound(way, figure) if way else EqualTo.of(tree)
    elif isinstance(shape, Text) and isinstance(tree, str):
        yield path, NotWeaker(tree) if tree in ordered(path) else EqualTo.of(tree)


def _of_amount(path: PolicyPath, tree: Any) -> Iterator[tuple[PolicyPath, Demand]]:
    """Of no support one side is known to be weaker."""
    try:
        ((unit, figure),) = parsed(tree).document.items()
    except ValueError:
        return
    yield path, FigureBound("==", Decimal(str(figure)), unit)
