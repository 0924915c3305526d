"""What the entries of a kind of requirement claim, and when one implies another: by the marks of its fields.

An entry implies another where each of its figures is as strict or stricter, each list of which more demands more has as
much or more, and all else is the same. What else has to be alike in both policies a kind says itself.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from ppdm_flow.core.model import FormsGroups, MoreIsStricter, StricterSide, StrongestFirst, unordered
from ppdm_flow.core.requirement import Requirement, RequirementPlace
from ppdm_flow.core.requirement_families import OnAttribute, OnSets
from ppdm_flow.policy.order.classes import SAME, unions
from ppdm_flow.policy.order.frame import ComparedPolicies, PolicyFrame

Rule = Callable[[Any, Any, ComparedPolicies], str | None]
"""Says why what is given implies what is asked for, in words; None where it is not proved to."""
Rules = tuple[tuple[type[Any], type[Any], Rule], ...]
"""Rules by the kinds of claim that they go from, and to."""
Groups = Callable[[Iterable[str], Iterable[str], ComparedPolicies], str | None]
"""Says why groups over the given attributes bound those over the attributes asked for, as those of `classes` do."""


def entry_itself(requirement: Requirement, _frame: PolicyFrame) -> Iterator[Requirement]:
    """Yield the requirement as its own claim. Neither the name of its entry nor the order of its sets matters."""
    sets = {name: getattr(requirement, name) for name in unordered(type(requirement))}
    name = requirement.name if isinstance(requirement, OnAttribute) else ""
    in_order = {name: tuple(sorted(set(each))) for name, each in sets.items() if isinstance(each, tuple)}
    yield requirement.changed(**in_order, releases=()).placed(RequirementPlace(name=name))


@dataclass(frozen=True, slots=True)
class Order:
    """What the clauses of a kind of requirement claim, and the ``rules`` by which claims imply each other.

    ``says`` yields what a requirement claims: itself, unless a kind claims several things. ``fields`` are the fields
    that it compares; every other field is implied only by an equal one. ``bounds`` are those that only bound figures of
    their names.
    """

    says: Callable[[Any, Any], Iterator[Any]] = entry_itself
    rules: Rules = ()
    fields: Collection[str] = ()
    bounds: Collection[str] = ()


def all_alike(_given: Any, _asked: Any, between: ComparedPolicies) -> bool:
    """Whether all that a figure could depend on is alike in both policies."""
    one, other = between.given, between.asked
    counted = one.policy.people == other.policy.people and one.nulls is other.nulls
    return between.same_rows and between.same_roles and between.one_history and counted


def same_groups(given: Iterable[str], asked: Iterable[str], between: ComparedPolicies) -> str | None:
    """Return why the groups are the same, if they are."""
    return SAME if unions(given, asked, between) == SAME else None


def wider(given: Iterable[str], asked: Iterable[str], between: ComparedPolicies) -> str | None:
    """Return that all attributes asked for are given, in any groups, if they are."""
    more, fewer = frozenset(given), frozenset(asked)
    return SAME if more >= fewer and between.certain(more, fewer) else None


def order_by_marks(
    model: type[Requirement],
    *,
    alike: Callable[[Any, Any, ComparedPolicies], bool] | None = all_alike,
    groups: Groups = same_groups,
    why: Callable[[Any, Any, ComparedPolicies], str] | None = None,
    judged: Collection[str] = (),
    files: Collection[tuple[str, ...]] = (),
    says: Callable[[Any, Any], Iterator[Any]] = entry_itself,
    rules: Rules = (),
    bounds: Collection[str] = (),
) -> Order:
    """Return the order of a kind of requirement by the marks of its model.

    Parameters
    ----------
    model
        The model of an entry.
    alike
        Whether both policies are alike in what the figure depends on beside the entries; all has to be by default, and
        with None nothing but the groups. It also compares the fields in ``judged``.
    groups
        Why groups over more attributes bound those over fewer.
    why
        The reason, in words; the figures of both by default.
    files
        Places below an entry with the path of a file: what the file holds has to be the same.
    says, rules, bounds
        As those of `Order`; the rules stand beside the one by marks.
    """
    marked = {name: info for name, info in model.model_fields.items() if name not in {"releases", *judged}}
    named = issubclass(model, OnAttribute | OnSets)

    def implied(given: Any, asked: Any, between: ComparedPolicies) -> str | None:
        if named and (given.attribute != asked.attribute or not between.about(asked.attribute)):
            return None
        if not all(_as_strict(getattr(given, n), getattr(asked, n), info) for n, info in marked.items()):
            return None
        if not all(between.same_file(_at(given, place), _at(asked, place)) for place in files):
            return None
        if alike is not None and not alike(given, asked, between):
            return None
        reason = why(given, asked, between) if why else _figures(given, asked, marked)
        for more, fewer in _groups_of(given, asked, marked):
            holds = groups(more, fewer, between)
            if holds is None:
                return None
            reason += "" if holds == SAME else f"; {holds}"
        return reason

    fields = {*model.model_fields, *(("attribute",) if named else ())} - {"releases"}
    return Order(says, ((model, model, implied), *rules), fields, bounds)


def _groups_of(
    given: Any, asked: Any, fields: Mapping[str, FieldInfo]
) -> Iterator[tuple[Iterable[str], Iterable[str]]]:
    """Yield what forms the groups of two entries that are as strict otherwise, in models within them too."""
    for name, info in fields.items():
        one, other = getattr(given, name), getattr(asked, name)
        if _mark(info, FormsGroups):
            yield one, other
        else:
            yield from _groups_below(one, other)


def _groups_below(given: Any, asked: Any) -> Iterator[tuple[Iterable[str], Iterable[str]]]:
    if isinstance(given, BaseModel) and isinstance(asked, BaseModel):
        yield from _groups_of(given, asked, type(asked).model_fields)
    elif isinstance(given, Mapping) and isinstance(asked, Mapping):
        yield from _groups_below([given[key] for key in asked if key in given], [asked[k] for k in asked if k in given])
    elif isinstance(given, list | tuple) and isinstance(asked, list | tuple):
        for one, other in zip(given, asked, strict=False):
            yield from _groups_below(one, other)


def _at(entry: Any, place: tuple[str, ...]) -> Any:
    return reduce(lambda part, name: getattr(part, name, None), place, entry)


def _mark(info: FieldInfo, kind: type[Any]) -> Any:
    return next((mark for mark in info.metadata if isinstance(mark, kind)), None)


def _as_strict(given: Any, asked: Any, info: FieldInfo) -> bool:
    """Whether a field demands as much as it does in the entry asked for, or more."""
    side, words = _mark(info, StricterSide), _mark(info, StrongestFirst)
    if given == asked or _mark(info, FormsGroups):
        return True
    if side is not None:
        if given is None or asked is None:
            return asked is None and side.weaker_where_absent
        return bool(given >= asked if side.sign == ">=" else given <= asked)
    if words is not None:
        return bool(words.words.index(given) <= words.words.index(asked))
    if _mark(info, MoreIsStricter):
        many = isinstance(given, Mapping)
        return all(_as_many(given.get(n, ()), asked[n]) for n in asked) if many else _as_many(given, asked)
    if isinstance(given, BaseModel) and type(given) is type(asked):
        below = type(given).model_fields.items()
        return all(_as_strict(getattr(given, n), getattr(asked, n), each) for n, each in below)
    return False


def _as_many(given: Iterable[str], asked: Iterable[str]) -> bool:
    return set(given) >= set(asked)


def _figures(given: Any, asked: Any, marked: dict[str, FieldInfo]) -> str:
    """Say how the figures of one entry compare with those of the other, by their names where there are several."""
    sides = {n: mark for n, info in marked.items() if (mark := _mark(info, StricterSide))}
    parts = []
    for name, side in sides.items():
        bound, least = getattr(given, name), "at least" if side.sign == ">=" else "at most"
        if bound is not None and getattr(asked, name) is not None:
            called = f"`{name}`: " if len(sides) > 1 else ""
            parts.append(f"{called}{least} {bound:g} is {least} {getattr(asked, name):g}")
    return ", ".join(parts) or "it asks for as much or more"
