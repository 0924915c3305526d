"""Releases that a reader of several of them can join: by keyed columns, and by columns that they share."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.plan.definition import Plan, ReleaseNode

APART = "apart"
SIGN = " + "
"""Stands between the names of releases that are read as one."""
Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ReleasePair:
    """Two releases with the columns, (one's, the other's), that may join their rows.

    ``keyed``: the columns are made of the same attributes with a secret key, or from draws, which give equal cells
    where the key is the same. ``shared``: they carry the same attributes, so that a person's cells can be equal.
    ``aligned``: their rows are in the same order, so that a row's place tells whose it is in the other.
    """

    one: ReleaseNode
    other: ReleaseNode
    keyed: Pairs
    shared: Pairs
    aligned: bool = False


def read_together(plan: Plan) -> bool:
    """Whether somebody may see two releases of a run."""
    return plan.recipients != APART and len(plan.releases) > 1


def links(releases: Sequence[ReleaseNode]) -> tuple[ReleasePair, ...]:
    """Return the pairs of releases whose rows may be joined."""
    pairs = [_link(a, b, _keyed(a.attributes, b.attributes)) for a, b in combinations(releases, 2)]
    return tuple(link for link in pairs if link.keyed or link.shared or link.aligned)


def keyed_links(plan: Plan) -> Iterator[ReleasePair]:
    """Yield the pairs of the plan's releases that share a keyed column, where somebody may see both.

    Only releases with such columns are paired: a policy may have a thousand others.
    """
    if not read_together(plan):
        return
    keyed_columns = [(r, tuple(a for a in r.attributes if a.lineage.keyed)) for r in plan.releases]
    keyed_releases = [(release, columns) for release, columns in keyed_columns if columns]
    made = {r.name: {a.name: _made(plan, a) for a in columns} for r, columns in keyed_releases}
    for (one, columns), (other, others) in combinations(keyed_releases, 2):
        pairs = _keyed(columns, others)
        if under_one_key := tuple((a, b) for a, b in pairs if made[one.name][a] == made[other.name][b]):
            yield _link(one, other, under_one_key)


def _link(one: ReleaseNode, other: ReleaseNode, keyed: Pairs) -> ReleasePair:
    return ReleasePair(one, other, keyed, _shared(one, other), _aligned(one, other))


def _made(plan: Plan, fact: AttributeFacts) -> list[object]:
    """Return what was done to a column, without the names of steps and the other attributes they work on."""
    steps = [plan.step(name) for name, _ in fact.changes]
    return [{**s.bound.document, "attributes": None, "use": s.bound.info.name} for s in steps]


def _aligned(one: ReleaseNode, other: ReleaseNode) -> bool:
    return bool(one.ordered_by) and one.ordered_by == other.ordered_by


def _keyed(ones: Sequence[AttributeFacts], others: Sequence[AttributeFacts]) -> Pairs:
    return tuple(
        (a.name, b.name)
        for a in ones
        for b in others
        if a.lineage.keyed and b.lineage.keyed and a.lineage.computed_from == b.lineage.computed_from
    )


def _shared(one: ReleaseNode, other: ReleaseNode) -> Pairs:
    """Return columns that carry the same attributes: their cells can be equal even after different steps."""
    carrying: dict[frozenset[str], list[str]] = defaultdict(list)
    for fact in other.attributes:
        carrying[fact.lineage.carries].append(fact.name)
    return tuple((a.name, b) for a in one.attributes for b in carrying.get(a.lineage.carries, ()))
