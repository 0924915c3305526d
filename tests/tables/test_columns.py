"""Columns, tables and domains."""

from __future__ import annotations

import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow.core.roles import Role
from ppdm_flow.tables.column import (
    _MANY,
    MISSING,
    SUPPRESSED,
    SUPPRESSED_TEXT,
    Column,
    _are_runs,
    stacked_texts,
    union,
)
from ppdm_flow.tables.schema import Field, Schema
from ppdm_flow.tables.table import Table, concat

CELLS = st.lists(st.sampled_from([None, SUPPRESSED_TEXT, "a", "b", "c", "é", ""]), max_size=30)


@given(cells=CELLS)
def test_texts_come_back(cells):
    assert Column.of(cells).texts() == cells


@given(cells=CELLS)
def test_compacting_keeps_the_cells_and_nothing_else(cells):
    wide = Column.of(cells, ["", "a", "b", "c", "zz", "é", "yy"])
    compact = wide.compact()
    assert compact.texts() == cells
    assert compact.categories.to_pylist() == sorted({c for c in cells if c not in (None, SUPPRESSED_TEXT)})


@given(cells=CELLS)
def test_recoding_keeps_the_cells(cells):
    onto = pa.array(["x", "é", "c", "b", "a", ""])
    assert Column.of(cells).onto(onto).texts() == cells


def test_recoding_onto_too_few_categories_is_an_error_only_where_they_are_in_use():
    column = Column(np.array([0, 0, MISSING, SUPPRESSED], dtype=np.int32), pa.array(["a", "b"]))
    assert column.onto(pa.array(["a"])).texts() == ["a", "a", None, SUPPRESSED_TEXT]
    with pytest.raises(KeyError):
        column.onto(pa.array(["b"]))


def test_mapping_leaves_special_marks_alone():
    column = Column.of(["a", None, SUPPRESSED_TEXT, "b"])
    mapped = column.mapped(np.array([1, MISSING]), pa.array(["x", "y"]))
    assert mapped.texts() == ["y", None, SUPPRESSED_TEXT, None]


@given(parts=st.lists(st.lists(st.sampled_from(["a", "b", "Z", "é", "10", "9", ""]), unique=True), max_size=4))
def test_a_union_is_sorted_by_bytes_each_once(parts):
    found = union(pa.array(p, pa.string()) for p in parts).to_pylist()
    assert found == sorted({x for p in parts for x in p}, key=str.encode)


@given(cells=CELLS, cuts=st.lists(st.integers(0, 30), max_size=3))
def test_stacking_partitions_gives_the_table_back(cells, cuts):
    bounds = sorted({0, len(cells), *(c for c in cuts if c <= len(cells))})
    pieces = [Table.of({"x": cells[a:b]}, a) for a, b in itertools.pairwise(bounds)] or [Table.of({"x": []})]
    whole = concat(pieces)
    assert whole["x"].texts() == cells
    assert whole.rows.tolist() == list(range(len(cells)))


@given(parts=st.lists(st.tuples(CELLS, st.booleans()), min_size=2, max_size=4))
def test_long_sorted_categories_are_merged_to_what_hashing_gives(parts):
    columns = [Column.of(cells, None if in_order else ["é", "c", "b", "a", ""]) for cells, in_order in parts]
    hashed = stacked_texts(columns)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ppdm_flow.tables.column._MANY", 0)
        merged = stacked_texts(columns)
    assert merged.texts() == [text for cells, _ in parts for text in cells]
    assert merged.categories.equals(hashed.categories)
    np.testing.assert_array_equal(merged.codes, hashed.codes)


def test_merging_starts_where_texts_are_many_and_in_order():
    texts = pa.array([f"{number:06}" for number in range(_MANY)])
    halves = [texts.take(pa.array(np.arange(start, _MANY, 2))) for start in (0, 1)]
    assert _are_runs(pa.chunked_array([*halves, halves[0]]))
    assert not _are_runs(pa.chunked_array([halves[0], halves[1][:-1]]))
    assert not _are_runs(pa.chunked_array([*halves, texts[::-1]]))
    columns = [Column(np.arange(len(half), dtype=np.int32), half) for half in (*halves, halves[0])]
    stacked = stacked_texts(columns)
    assert stacked.categories.equals(texts)
    expected = [np.arange(0, _MANY, 2), np.arange(1, _MANY, 2), np.arange(0, _MANY, 2)]
    np.testing.assert_array_equal(stacked.codes, np.concatenate(expected))


def test_stacking_needs_tables_with_the_same_columns():
    with pytest.raises(ValueError, match="one partition at least"):
        concat([])
    with pytest.raises(ValueError, match="partitions must have the same columns"):
        concat([Table.of({"x": []}), Table.of({"y": []})])


def test_rows_keep_their_numbers_when_taken():
    table = Table.of({"x": list("abcd"), "y": list("1234")}, start=10)
    taken = table.take(np.array([True, False, False, True]))
    assert taken.rows.tolist() == [10, 13]
    assert taken["y"].texts() == ["1", "4"]
    assert table.select(["y"]).names == ("y",)
    assert table.replaced({"x": Column.of(list("wxyz"))})["x"].texts() == list("wxyz")


def test_columns_of_unlike_length_are_refused():
    with pytest.raises(ValueError, match="2 cells for 3 rows"):
        Table({"x": Column.of(["a", "b"])}, np.arange(3))


def test_schema_by_name_and_role():
    schema = Schema((Field("a", Role.QUASI_IDENTIFIER), Field("w", Role.WEIGHT), Field("s", Role.SENSITIVE)))
    assert schema.names == ("a", "w", "s")
    assert schema.weight == "w"
    assert schema.having(Role.SENSITIVE, Role.QUASI_IDENTIFIER) == ("a", "s")
    assert "zz" not in schema
    assert schema["s"].role is Role.SENSITIVE
    with pytest.raises(KeyError):
        schema["zz"]


def test_numbers_of_categories():
    assert Column.of(["2", "10", None]).numbers().tolist() == [10.0, 2.0]
    with pytest.raises(pa.ArrowInvalid):
        Column.of(["x"]).numbers()
