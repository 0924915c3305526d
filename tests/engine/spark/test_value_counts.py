"""Counts taken while a source is read are those of all of its rows, or none at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.engine.spark import source
from ppdm_flow.engine.spark.source import GatheredCounts, PartitionedColumnCounts
from ppdm_flow.tables.counts import count
from ppdm_flow.tables.table import Table, concat

NAMES = ("a", "b", "c")
CELL = st.sampled_from(["1", "2", "3", "4", "5", None, "⊥"])
PARTITION = st.lists(st.tuples(CELL, CELL, CELL), max_size=6)
FRAGMENT = st.lists(PARTITION, min_size=1, max_size=3)


def table_of(rows, start=0) -> Table:
    return Table.of({name: [row[i] for row in rows] for i, name in enumerate(NAMES)}, start)


def shown(counts):
    cells = (column.texts() for column in counts.as_table().columns.values())
    return counts.columns, list(zip(*cells, counts.counts, strict=True))


@examples(45)
@given(
    fragments=st.lists(FRAGMENT, min_size=1, max_size=3),
    few=st.integers(1, 6),
    together=st.integers(1, 400),
    first=st.sampled_from([frozenset(), frozenset("a"), frozenset("ab"), frozenset("ax")]),
    added=st.booleans(),
)
def test_what_is_counted_by_the_way_is_what_there_is(fragments, few, together, first, added):
    gathered, rows = GatheredCounts(), [row for fragment in fragments for part in fragment for row in part]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source, "_MOST_WIDER", together)
        every = []
        for fragment in fragments:
            counting = PartitionedColumnCounts(NAMES, few, first)
            for part in fragment:
                counting.look(table_of(part))
            every.append(counting)
            gathered.take(counting.counts, counting.together)
    if added:
        for counting in every[1:]:
            every[0].add(counting)
        gathered = GatheredCounts()
        gathered.take(every[0].counts, every[0].together)
    whole = concat([table_of(rows)])
    for name, counts in gathered.counts().items():
        assert shown(counts) == shown(count(whole, [name]))
    for counts in gathered.together():
        assert shown(counts) == shown(count(whole, counts.columns))
        assert first
        assert len(counts) <= together * len(fragments)


def test_quasi_identifiers_and_what_adds_little_are_counted_together():
    rows = [(str(i % 5), str(i % 2), str(i)) for i in range(40)]
    counting = PartitionedColumnCounts(NAMES, 100, frozenset("a"))
    counting.look(table_of(rows))
    assert counting.together is not None
    assert counting.together.columns == ("a", "b", "c")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source, "_MOST_WIDER", 20)
        counting = PartitionedColumnCounts(NAMES, 100, frozenset("a"))
        counting.look(table_of(rows))
        assert counting.together is not None
        assert counting.together.columns == ("a", "b")
        counting = PartitionedColumnCounts(NAMES, 100, frozenset("c"))
        counting.look(table_of(rows))
        assert counting.together is None
