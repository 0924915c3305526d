"""Counts of columns as they are held in few bytes, against counts of the cells written out."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.core.roles import AttributeType
from ppdm_flow.engine.streams.narrow import NarrowColumn, NarrowTable, PairedColumn
from ppdm_flow.tables.column import MISSING, SPECIALS, SUPPRESSED, Column
from ppdm_flow.tables.counts import count
from ppdm_flow.tables.numeric.column import NumericColumn
from ppdm_flow.tables.table import Table


def column(seed: int, rows: int, width: int) -> Column:
    """Codes of both marks and of all categories, whose texts are in no order."""
    rng = np.random.default_rng(seed)
    names = [f"v{n}" for n in rng.permutation(width)]
    return Column(rng.integers(-SPECIALS, width, rows).astype(np.int32), pa.array(names, pa.string()))


def written_out(column: Column) -> list[int]:
    dense = column.codes + SPECIALS
    return [int((dense == code).sum()) for code in range(len(column.categories) + SPECIALS)]


@examples(36)
@given(
    seed=st.integers(0, 2**32 - 1),
    rows=st.integers(0, 300),
    width=st.sampled_from([1, 2, 13, 14, 15, 126, 127, 128, 129, 300]),
)
def test_a_tally_is_what_counting_cell_by_cell_gives(seed, rows, width):
    cells = column(seed, rows, width)
    held = [NarrowColumn.of(cells), *([PairedColumn.of(cells)] if width + SPECIALS <= 16 else [])]
    for narrow in held:
        tally = narrow.tally()
        assert tally is not None
        assert tally.tolist() == written_out(cells)


def test_more_codes_than_two_bytes_hold_are_not_tallied():
    cells = Column(
        np.array([0, 40_000, MISSING, SUPPRESSED], dtype=np.int32), pa.array(map(str, range(40_001)), pa.string())
    )
    assert NarrowColumn.of(cells).tally() is None
    narrow = NarrowTable.of(Table({"a": cells}, np.arange(4)))
    assert _same(narrow.counts(("a",), None), count(Table({"a": cells}, np.arange(4)), ["a"]))


@examples(25)
@given(
    seed=st.integers(0, 2**32 - 1),
    rows=st.integers(1, 200),
    wanted=st.sampled_from([(), ("a",), ("b",), ("n",), ("b", "a"), ("a", "n")]),
    weighted=st.booleans(),
)
def test_counts_of_a_held_partition_are_those_of_its_table(seed, rows, wanted, weighted):
    rng = np.random.default_rng(seed)
    numbers = NumericColumn(rng.integers(0, 5, rows), AttributeType.INTEGER)
    weights = Column(rng.integers(0, 3, rows).astype(np.int32), pa.array(["1", "20", "3"]))
    columns = {"a": column(seed, rows, 5), "b": column(seed + 1, rows, 200), "n": numbers, "w": weights}
    table = Table(columns, np.arange(rows))
    weight = "w" if weighted else None
    assert _same(NarrowTable.of(table).counts(wanted, weight), count(table, wanted, weight))


def _same(first, second) -> bool:
    assert first.columns == second.columns
    assert [c.to_pylist() for c in first.categories] == [c.to_pylist() for c in second.categories]
    assert first.codes.tolist() == second.codes.tolist()
    assert first.counts.tolist() == second.counts.tolist()
    return True


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_the_half_byte_that_fills_up_an_odd_number_of_rows_is_not_counted(rows):
    cells = Column(np.full(rows, -SPECIALS, dtype=np.int32), pa.array(["a"]))
    assert PairedColumn.of(cells).tally().tolist() == [rows, 0, 0]
