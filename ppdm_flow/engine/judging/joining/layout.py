"""The columns of a joined table: those of all releases, shared and keyed ones once, sets of an attribute as one."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.roles import Role
from ppdm_flow.engine.judging.joining.rows import JoinedRows
from ppdm_flow.plan.definition import ReleaseNode

Member = tuple[str, str]
"""A release and a column of it."""


@dataclass(frozen=True, slots=True)
class JoinedColumn:
    """One column of a joined table, with the columns of releases that it is made of; ``facts`` are the first one's."""

    name: str
    facts: AttributeFacts
    members: tuple[Member, ...]

    @property
    def is_weight(self) -> bool:
        """Whether it says how many people a row stands for."""
        return self.facts.role is Role.WEIGHT


def layout(
    releases: Sequence[ReleaseNode], joined_rows: Sequence[JoinedRows], telling: Collection[str] | None
) -> tuple[JoinedColumn, ...]:
    """Return the columns of releases computed from one of ``telling`` (None: all), the weights, and the sets."""
    of = {(r.name, a.name): a for r in releases for a in r.attributes if _tells(a, telling)}
    groups: dict[Member, list[Member]] = {member: [member] for member in of}
    for one, other in _same(joined_rows, of):
        first, second = groups[one], groups[other]
        if first is not second and {r for r, _ in first}.isdisjoint(r for r, _ in second):
            first += second
            groups |= dict.fromkeys(second, first)
    kept = list({id(g): g for g in groups.values()}.values())
    kept += _sets(releases, telling)
    of |= {(r.name, a.name): a for r in releases for a in r.attributes if a.role is Role.ITEMS}
    names = [name for _, name in (group[0] for group in kept)]
    columns: list[JoinedColumn] = []
    for group in kept:
        release, name = group[0]
        own = name if names.count(name) == 1 else f"{release}/{name}"
        while any(own == c.name for c in columns) or (own != name and own in names):
            own += "'"
        columns.append(JoinedColumn(own, of[group[0]], tuple(group)))
    return tuple(columns)


def _sets(releases: Sequence[ReleaseNode], telling: Collection[str] | None) -> list[list[Member]]:
    """Return the columns with sets, those of the same attributes together: whoever joins rows joins their items."""
    members: dict[frozenset[str], list[Member]] = {}
    for release in releases:
        for fact in release.attributes:
            carried = fact.lineage.computed_from
            if fact.role is Role.ITEMS and (telling is None or not carried.isdisjoint(telling)):
                members.setdefault(carried, []).append((release.name, fact.name))
    return list(members.values())


def _tells(fact: AttributeFacts, telling: Collection[str] | None) -> bool:
    if fact.role is Role.ITEMS:
        return False
    return telling is None or fact.role is Role.WEIGHT or not fact.lineage.computed_from.isdisjoint(telling)


def _same(joined_rows: Sequence[JoinedRows], of: Collection[Member]) -> list[tuple[Member, Member]]:
    """Return the pairs of columns that are one."""
    pairs = [((j.link.one.name, a), (j.link.other.name, b)) for j in joined_rows for a, b in j.merged]
    return [(one, other) for one, other in pairs if one in of and other in of]
