"""Joined tables against brute force over all rows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.lineage import Lineage
from ppdm_flow.core.roles import Role
from ppdm_flow.engine.judging.joining.rows import CellHashes, NumberedStream, columns_to_compare, join_rows
from ppdm_flow.engine.judging.joining.table import ABSENT_TEXT, joined_table, layout, origins
from ppdm_flow.engine.streams.stream import StreamPart
from ppdm_flow.plan.definition import ReleaseNode
from ppdm_flow.plan.together import links
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.table import Table

KEYED = Lineage(frozenset({"id"}), value_map=False, keyed=frozenset({"id"}))
FACTS = {
    "id": AttributeFacts("id", Role.IDENTIFIER, source="id", derived=KEYED),
    "a": AttributeFacts("a", Role.QUASI_IDENTIFIER, source="a"),
    "b": AttributeFacts("b", Role.QUASI_IDENTIFIER, source="b"),
}
TELLING = {"id", "a", "b"}
VALUES = ["x", "y", ABSENT_TEXT, None, "⊥"]
Row = dict[str, str | None]


@dataclass
class Parts:
    """A release in partitions of two rows, in the order given."""

    attributes: tuple[AttributeFacts, ...]
    rows: dict[int, Row]

    def parts(self, columns=None):
        names = [a.name for a in self.attributes] if columns is None else columns
        numbers = list(self.rows)
        for start in range(0, len(numbers), 2):
            some = numbers[start : start + 2]
            cells = {n: Column.of([self.rows[i][n] for i in some]) for n in names}
            yield StreamPart(Table(cells, np.array(some, dtype=np.int64)))


@st.composite
def releases(draw):
    """Two or three releases of up to six people, with some of the columns, some of the rows, in any order."""
    people = {i: {n: draw(st.sampled_from(VALUES)) for n in FACTS} for i in range(draw(st.integers(1, 6)))}
    found = {}
    for name in ("one", "two", "three")[: draw(st.integers(2, 3))]:
        columns = draw(st.lists(st.sampled_from(list(FACTS)), min_size=1, unique=True))
        rows = draw(st.lists(st.sampled_from(list(people)), min_size=1, unique=True))
        found[name] = columns, {i: {c: people[i][c] for c in columns} for i in rows}
    return found


def streams_of(found):
    made = []
    for name, (columns, rows) in found.items():
        facts = tuple(FACTS[c] for c in columns)
        node = ReleaseNode(name, "source", "", "csv", {}, "internal", facts)
        made.append(NumberedStream(node, Parts(facts, rows)))
    return made


def by_hand(found):
    """Every row of the joined table: the releases that it is in, and its cells by column."""
    pairs = set()
    names = list(found)
    for k, one in enumerate(names):
        for two in names[k + 1 :]:
            pairs |= {(one, two, i) for i in _pairs(found[one], found[two])}
    left = []
    for i in sorted({i for _, rows in found.values() for i in rows}):
        groups = [{n} for n in names if i in found[n][1]]
        for one, two, row in sorted(pairs):
            if row == i:
                mine = [g for g in groups if one in g or two in g]
                groups = [g for g in groups if g not in mine] + [set().union(*mine)]
        left += [(i, group) for group in groups]
    return bool(pairs), [
        {c: next((found[n][1][i][c] for n in names if n in group and c in found[n][0]), "absent") for c in FACTS}
        for i, group in left
    ]


def _pairs(one, two):
    shared = [c for c in one[0] if c in two[0]]
    times = [Counter(tuple(row[c] for c in shared) for row in side[1].values()) for side in (one, two)]
    for i in one[1].keys() & two[1].keys():
        cells = tuple(one[1][i][c] for c in shared)
        known = "id" in shared and one[1][i]["id"] not in (None, "⊥")
        if known or (shared and all(t[cells] == 1 for t in times)):
            yield i


@given(releases())
def test_rows_and_cells(found):
    streams = streams_of(found)
    possible = links([s.release for s in streams])
    prints = {s.release.name: CellHashes.of(s, columns_to_compare(possible, s.release.name), "k" * 16) for s in streams}
    pairs = [p for link in possible if (p := join_rows(link, prints[link.one.name], prints[link.other.name]))]
    some, expected = by_hand(found)
    assert bool(pairs) == some
    rows, places = origins({n: p.rows for n, p in prints.items()}, pairs)
    columns = layout([s.release for s in streams], pairs, TELLING)
    made = joined_table(rows, places, columns, streams)
    assert len(made.table) == len(expected)
    if len({c for j in pairs for c in (j.link.one.name, j.link.other.name)}) == len(found):  # then columns are merged
        shown = {c.name: made.table[c.name] for c in columns}
        texts = {n: _cells(column, made.absent.get(n)) for n, column in shown.items()}
        got = Counter(tuple(sorted((n, t[i]) for n, t in texts.items())) for i in range(len(rows)))
        want = Counter(tuple(sorted((n, str(row[n])) for n in shown)) for row in expected)
        assert got == want
    for name, code in made.absent.items():
        texts = {row.get(name) for _, rows_ in found.values() for row in rows_.values()}
        assert made.table[name].categories[code].as_py() not in texts


def _cells(column, absent):
    return ["absent" if code == absent else str(text) for code, text in zip(column.codes, column.texts(), strict=True)]
