"""Attributes: which columns there are, who may see them, and which values they may have."""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.policy.language.models import Attribute
from ppdm_flow.policy.language.patterns import is_pattern
from ppdm_flow.policy.order.clauses import ChangeVerdict, Clauses, ComparedClause, verdict

_PERSONAL = frozenset({Role.IDENTIFIER, Role.SUBJECT})
_PLAIN = frozenset({Role.INSENSITIVE, Role.TARGET})
_STRUCTURAL = frozenset({Role.WEIGHT, Role.ITEMS})
_RANK = {Role.QUASI_IDENTIFIER: 1, Role.SENSITIVE: 1, Role.INSENSITIVE: 0, Role.TARGET: 0}

Judged = tuple[ChangeVerdict, str]


def attributes(old: Clauses, new: Clauses) -> Iterator[ComparedClause]:
    """Yield what has changed about attributes."""
    before, after = old.policy.attributes, new.policy.attributes
    shuffled = [n for n in before if n in after] != [n for n in after if n in before]
    if shuffled and any(is_pattern(name) for name in (*before, *after)):
        why = "of several patterns that fit a column the first one counts, and their order is another"
        sides = [c.side(("attributes",), "order of patterns") for c in (old, new)]
        yield ComparedClause("attributes", ChangeVerdict.INCOMPARABLE, why, *sides)
    for name in dict.fromkeys((*before, *after)):
        path = ("attributes", name)
        there = [c.side(path) if name in c.policy.attributes else None for c in (old, new)]
        if name not in after or name not in before:
            yield ComparedClause(
                f"attributes.{name}", ChangeVerdict.INCOMPARABLE, _declared(name, added=name in after), *there
            )
        else:
            yield from _each(name, before[name], after[name], old, new)


def _declared(name: str, *, added: bool) -> str:
    which = ("only the new", "the old") if added else ("only the old", "the new")
    what = "columns that fit it" if is_pattern(name) else "data with this column, which may leave"
    return f"{which[0]} policy takes {what}; {which[1]} one never released it, and takes other data"


def _each(name: str, before: Attribute, after: Attribute, old: Clauses, new: Clauses) -> Iterator[ComparedClause]:
    changed: dict[str, Judged] = {}
    if before.role is not after.role:
        changed["role"] = role(before.role, after.role)
    if before.type is not after.type:
        changed["type"] = _type(before.type, after.type)
    if before.domain != after.domain:
        changed["domain"] = _domain(before.domain, after.domain)
    if before.hierarchy != after.hierarchy:
        changed["hierarchy"] = (
            ChangeVerdict.NEUTRAL,
            "a means of steps; requirements that read labels by it are judged apart",
        )
    if before.determines != after.determines:
        one, other = frozenset(before.determines or ()), frozenset(after.determines or ())
        why = "whoever sees it is taken to know what it determines"
        changed["determines"] = verdict(forward=one <= other, backward=other <= one), why
    if before.description != after.description:
        changed["description"] = ChangeVerdict.NEUTRAL, "words for readers"
    for field, (judged, why) in changed.items():
        path = ("attributes", name, field)
        sides = [c.side(path) if c.has(path) else None for c in (old, new)]
        yield ComparedClause(".".join(path), judged, why, *sides)


def role(before: Role, after: Role) -> Judged:
    """Return what a change of role does by itself; classes that form otherwise are judged where they are required."""
    roles = {before, after}
    if Role.SAMPLING_WEIGHT in roles:
        return ChangeVerdict.INCOMPARABLE, "risks are estimated for another population, and other data is refused"
    if roles & _STRUCTURAL:
        return ChangeVerdict.INCOMPARABLE, "rows count, or cells are read, otherwise"
    if roles <= _PERSONAL:
        return ChangeVerdict.INCOMPARABLE, "both stay behind, but a subject tells whose rows are whose"
    if roles & _PERSONAL:
        judged = verdict(forward=after in _PERSONAL, backward=before in _PERSONAL)
        return judged, f"the values of an attribute with the role `{(roles & _PERSONAL).pop()}` never leave"
    if roles <= _PLAIN:
        return ChangeVerdict.NEUTRAL, "neither role protects anything"
    if _RANK[before] == _RANK[after]:
        return (
            ChangeVerdict.INCOMPARABLE,
            "what others know of a person, and what they must not learn, are different things",
        )
    judged = verdict(forward=_RANK[after] > _RANK[before], backward=_RANK[after] < _RANK[before])
    protected = before if _RANK[before] else after
    return judged, f"`{protected}` protects: what is required of such attributes is required of this one"


def _type(before: AttributeType, after: AttributeType) -> Judged:
    text = AttributeType.TEXT
    if text not in (before, after):
        return ChangeVerdict.INCOMPARABLE, "each type takes values that the other refuses"
    return verdict(forward=before is text, backward=after is text), "`text` takes any value, the other refuses some"


def _domain(before: tuple[str, ...] | None, after: tuple[str, ...] | None) -> Judged:
    if before is None or after is None:
        judged = verdict(forward=before is None, backward=after is None)
        return judged, "with a domain, data with any other value is refused"
    one, other = frozenset(before), frozenset(after)
    why = "data with a value beyond the domain is refused" if one != other else "the same values in another order"
    return verdict(forward=other <= one, backward=one <= other), why
