"""Whether a value meets a demand."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from ppdm_flow.core.roles import Nulls
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
from ppdm_flow.policy.floors.places import MISSING
from ppdm_flow.policy.floors.strength import keeps
from ppdm_flow.policy.language.shape import Number, at
from ppdm_flow.policy.language.words import short
from ppdm_flow.policy.params.params import number
from ppdm_flow.policy.text.nodes import PolicyPath

_COMPARE: Mapping[str, Callable[[Decimal, Decimal], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "==": operator.eq,
}


_BY_MORE = "here by nothing else, since more attributes ask for more only where `nulls` is `own_category`"


def meets(demand: Demand, path: PolicyPath, tree: Any, nulls: str = Nulls.OWN_CATEGORY) -> bool:
    """Whether ``tree``, which stands at ``path`` (``MISSING`` if nothing does), meets the demand.

    ``nulls`` is how the policy's groups treat missing values.
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
        return given >= set(demand.wanted) if nulls == Nulls.OWN_CATEGORY else given == set(demand.wanted)
    if isinstance(demand, EqualTo):
        return _same(demand.tree, tree, numeric=isinstance(at(path), Number))
    if isinstance(demand, FigureBound):
        figure = _figure(demand, tree)
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
        return number(tree) if isinstance(tree, str) else None
    try:
        figure = parsed(tree).document.get(demand.unit)
    except ValueError:
        return None
    return None if figure is None else Decimal(str(figure))


def _same(wanted: Any, tree: Any, *, numeric: bool) -> bool:
    if numeric and isinstance(wanted, str) and isinstance(tree, str):
        return number(wanted) == number(tree)
    if isinstance(wanted, dict) and isinstance(tree, Mapping):
        return wanted.keys() == tree.keys() and all(_same(v, tree[k], numeric=False) for k, v in wanted.items())
    if isinstance(wanted, list) and isinstance(tree, list):
        return len(wanted) == len(tree) and all(_same(a, b, numeric=False) for a, b in zip(wanted, tree, strict=True))
    return bool(wanted == tree)
