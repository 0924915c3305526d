"""Columns of a fragment that are kept: the same partitions in any order of requests, each read once."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.roles import Role
from ppdm_flow.engine.spark.stream import Fragment, FragmentStream, KeptColumns, Recipe, fragment_pairs
from ppdm_flow.engine.streams.reading import ReadOptions

NAMES = ("x", "y", "z")
CELL = st.sampled_from(["a", "b", "c", None])
ROWS = st.lists(st.tuples(CELL, CELL, CELL), min_size=1, max_size=20)


class Source:
    """Rows in memory, in blocks of three."""

    def __init__(self, rows: list[tuple]) -> None:
        self.rows = rows
        self.asked: list[str] = []

    def names(self) -> tuple[str, ...]:
        return NAMES

    def batches(self, columns):
        self.asked += columns
        for start in range(0, len(self.rows), 3):
            part = self.rows[start : start + 3]
            arrays = [pa.array([row[NAMES.index(c)] for row in part], pa.string()) for c in columns]
            yield pa.RecordBatch.from_arrays(arrays, list(columns))


def facts(role: Role = Role.INSENSITIVE) -> tuple[AttributeFacts, ...]:
    return tuple(AttributeFacts(name, role) for name in NAMES)


def shown(parts, names=None):
    return [
        (part.table.rows.tolist(), [(n, part.table[n].texts()) for n in names or part.table.names]) for part in parts
    ]


@examples(30)
@given(
    rows=ROWS,
    asked=st.lists(
        st.one_of(st.none(), st.lists(st.sampled_from(NAMES), min_size=1, unique=True)), min_size=1, max_size=5
    ),
    incomplete=st.sampled_from([(), ("y",)]),
    first=st.sampled_from([0, 70]),
)
def test_kept_columns_are_those_that_are_read(rows, asked, incomplete, first):
    reading = ReadOptions({n: n for n in NAMES}, partition_rows=4, incomplete=incomplete)
    source = Source(rows)
    fragment = Fragment(source, first, len(rows))
    kept = KeptColumns(FragmentStream(fragment, facts(), reading))
    plain = FragmentStream(Fragment(Source(rows), first, len(rows)), facts(), reading)
    for columns in asked:
        parts = list(kept.parts(columns))
        assert shown(parts) == shown(plain.parts(columns))
        assert all(part.table.names == tuple(NAMES if columns is None else columns) for part in parts)
    wanted = set().union(*(NAMES if columns is None else columns for columns in asked)) - set(incomplete)
    assert sorted(n for n in source.asked if n not in incomplete) == sorted(wanted)


@given(rows=ROWS)
def test_pairs_read_once_what_both_sides_have(rows):
    source = Source(rows)
    recipe = Recipe(facts(), ReadOptions({n: n for n in NAMES}, partition_rows=4))
    pairs = fragment_pairs(recipe, recipe, Fragment(source, 0, len(rows)))
    found = [
        cells
        for left, right in pairs.pairs(["x"], ["x", "y"])
        for cells in zip(left["x"].texts(), right["x"].texts(), right["y"].texts(), strict=True)
    ]
    assert found == [(x, x, y) for x, y, _ in rows]
    assert sorted(source.asked) == ["x", "y"]
