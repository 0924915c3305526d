"""Columns of numbers: their one spelling, what they are read from, and what they are as coded columns."""

from __future__ import annotations

import datetime as dt
import math
import pickle
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow.core.roles import AttributeType
from ppdm_flow.core.texts import canonical, float_text
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.counts import count, weights_of
from ppdm_flow.tables.frozen import frozen_table
from ppdm_flow.tables.numeric.column import (
    NumericColumn,
    arrow_numbers,
    missing_mask,
    numbers_among,
    parsed,
    texts_of,
    texts_of_arrow,
)
from ppdm_flow.tables.table import Table, concat

INTEGER, FLOAT = AttributeType.INTEGER, AttributeType.FLOAT
DATE, TIMESTAMP = AttributeType.DATE, AttributeType.TIMESTAMP

FLOATS = st.floats(allow_nan=False, allow_infinity=False)
INTEGERS = st.integers(-(1 << 63), (1 << 63) - 1)
DAYS = st.dates().map(lambda d: (d - dt.date(1970, 1, 1)).days)
MOMENTS = st.datetimes().map(lambda d: (d - dt.datetime(1970, 1, 1)) // dt.timedelta(microseconds=1))  # noqa: DTZ001
NUMBERS = {INTEGER: INTEGERS, FLOAT: FLOATS, DATE: DAYS, TIMESTAMP: MOMENTS}


def array(kind, values):
    return np.array(values, dtype=np.float64 if kind is FLOAT else np.int64)


@pytest.mark.parametrize("kind", list(NUMBERS))
@given(data=st.data())
def test_a_text_reads_back_as_its_number_and_as_no_other_one(kind, data):
    values = array(kind, data.draw(st.lists(NUMBERS[kind], min_size=1, max_size=8))) + 0
    texts = texts_of(values, kind)
    assert np.array_equal(parsed(texts, kind).values, values)
    assert [canonical(text, kind) for text in texts.to_pylist()] == texts.to_pylist()
    assert len(set(texts.to_pylist())) == len(np.unique(values))


@given(st.lists(FLOATS, min_size=1, max_size=20))
def test_the_text_of_a_float_is_its_twin_s(values):
    assert texts_of(array(FLOAT, values), FLOAT).to_pylist() == [float_text(value) for value in values]


@given(FLOATS)
def test_the_text_of_a_float_is_the_shortest_that_python_finds(value):
    digits = Decimal(repr(value)).normalize().as_tuple().digits
    assert Decimal(float_text(value)).normalize().as_tuple().digits == digits or value == 0


WORDS = st.one_of(
    st.text(max_size=8),
    FLOATS.map(repr),
    INTEGERS.map(str),
    st.dates().map(str),
    st.datetimes().map(lambda d: d.isoformat()),
    st.sampled_from(
        [
            "+5",
            "007",
            "0x1F",
            "0X1p3",
            ".5",
            "5.",
            "1e400",
            "nan",
            "inf",
            "1_0",
            "٣",
            "-0",
            "1,5",
            "0001-01-01",
            "9999-12-31",
            "2024-02-30",
        ]
    ),
    st.sampled_from(["2024-1-1", "20240101", "2024-01-01T24:00:00", "2024-01-01T10:00Z", "2024-01-01T10:00:00+02:00"]),
    st.sampled_from(["9223372036854775808", "-9223372036854775808", "9" * 23, "", " 5", "5 ", "2024-01-01 10:00"]),
)


@pytest.mark.parametrize("kind", list(NUMBERS))
@given(data=st.data())
def test_a_column_of_texts_is_read_as_each_text_is(kind, data):
    """Held against the reading of single texts; offsets from UTC are mixed in columns of timestamps only."""
    words = data.draw(st.lists(st.one_of(WORDS, st.none()), max_size=6))
    words = [None if w is None else w.encode("utf-8", "replace").decode() for w in words]
    texts = pa.array(words, pa.string())
    read = parsed(texts, kind)
    spelled = [None if w is None else canonical(w, kind) for w in words]
    assert read.missing.tolist() == [w is None for w in words]
    shown = texts_of(read.values, kind).to_pylist()
    for i, word in enumerate(words):
        if word is None:
            continue
        if read.bad[i]:
            assert spelled[i] is None or kind is TIMESTAMP
        else:
            assert shown[i] == spelled[i]
    coded = parsed(texts.dictionary_encode(), kind)
    assert np.array_equal(coded.values, read.values) or kind is TIMESTAMP
    assert np.array_equal(coded.missing, read.missing)


def test_timestamps_have_offsets_or_none():
    for first, other in (("2024-01-01T10:00:00Z", "2024-01-01T10:00:00"), ("2024-01-01", "2024-01-01T00:00:00+00:00")):
        assert parsed(pa.array([first, other]), TIMESTAMP).bad.tolist() == [False, True]
    assert parsed(pa.array(["2024-01-01T10:00:00+02:00"]), TIMESTAMP).zoned
    assert texts_of(parsed(pa.array(["2024-01-01T10:00:00+02:00"]), TIMESTAMP).values, TIMESTAMP).to_pylist() == [
        "2024-01-01T08:00:00"
    ]


TYPED = [
    (pa.array([1, None], pa.int8()), INTEGER, ["1", None]),
    (pa.array([1, 1 << 63], pa.uint64()), INTEGER, ["1", "bad"]),
    (pa.array([3.0, 3.5, 1e300]), INTEGER, ["3", "bad", "bad"]),
    (pa.array([Decimal("1.50"), None], pa.decimal128(6, 2)), FLOAT, ["1.5", None]),
    (pa.array([0.1, -0.0], pa.float32()), FLOAT, ["0.1", "0"]),
    (pa.array([math.nan, math.inf, 1.0]), FLOAT, ["bad", "bad", "1"]),
    (pa.array([1, 2], pa.int64()), FLOAT, ["1", "2"]),
    (pa.array([1, 2], pa.int64()), DATE, ["bad", "bad"]),
    (pa.array([True, None]), INTEGER, ["bad", None]),
    (pa.array([dt.date(2024, 1, 31)], pa.date64()), DATE, ["2024-01-31"]),
    (pa.array([dt.date(2024, 1, 31)], pa.date32()), TIMESTAMP, ["2024-01-31T00:00:00"]),
    (pa.array([1_706_659_200_000, 1_706_659_200_001], pa.timestamp("ms")), DATE, ["2024-01-31", "bad"]),
    (pa.array([1, 1_000], pa.timestamp("ns")), TIMESTAMP, ["bad", "1970-01-01T00:00:00.000001"]),
    (pa.array([253402300800, -1], pa.timestamp("s")), TIMESTAMP, ["bad", "1969-12-31T23:59:59"]),
    (pa.array([0], pa.timestamp("ms", "UTC")), TIMESTAMP, ["1970-01-01T00:00:00"]),
    (pa.array([0], pa.timestamp("us")), FLOAT, ["bad"]),
    (pa.nulls(2), FLOAT, [None, None]),
]


@pytest.mark.parametrize(("given", "kind", "expected"), TYPED, ids=lambda x: str(getattr(x, "type", x))[:24])
def test_numbers_of_arrow_keep_their_value_or_are_bad(given, kind, expected):
    read = parsed(given, kind)
    shown = texts_of(read.values, kind).to_pylist()
    marked = ["bad" if b else None if m else t for t, m, b in zip(shown, read.missing, read.bad, strict=True)]
    assert marked == expected


@pytest.mark.parametrize("kind", list(NUMBERS))
@given(data=st.data())
def test_as_a_coded_column_it_is_the_column_of_its_texts(kind, data):
    cells = data.draw(st.lists(st.one_of(NUMBERS[kind], st.none()), max_size=9))
    numbers = array(kind, [0 if c is None else c for c in cells])
    column = NumericColumn(numbers, kind, np.array([c is None for c in cells], dtype=bool))
    texts = texts_of(numbers + 0, kind).to_pylist()
    plain = Column.of([None if c is None else t for c, t in zip(cells, texts, strict=True)])
    assert column.texts() == plain.texts() == column.texts_by_row().to_pylist()
    assert column.categories.to_pylist() == plain.categories.to_pylist()
    assert np.array_equal(column.codes, plain.codes)
    assert np.array_equal(missing_mask(column), missing_mask(plain))
    rows = np.array(data.draw(st.lists(st.integers(0, max(0, len(cells) - 1)), max_size=9 if cells else 0)), dtype=int)
    assert column.take(rows).texts() == plain.take(rows).texts()
    assert pickle.loads(pickle.dumps(column)).texts() == plain.texts()
    both = Table({"a": column}, np.arange(len(cells), dtype=np.int64))
    twice = concat([both, both])["a"]
    assert isinstance(twice, NumericColumn)
    assert twice.texts() == plain.texts() * 2
    assert count(both, ["a"]).counts.sum() == len(cells)
    arrow = arrow_numbers(column.values, kind, column.missing)
    assert texts_of_arrow(arrow).to_pylist() == plain.texts()


def test_numbers_beside_labels_are_stacked_as_texts():
    numbers = Table({"a": NumericColumn(np.array([1, 2]), INTEGER)}, np.arange(2))
    labels = Table({"a": Column.of(["[0-5)", "⊥"])}, np.arange(2, 4))
    assert concat([numbers, labels])["a"].texts() == ["1", "2", "[0-5)", "⊥"]


def test_a_table_without_rows_makes_no_texts_of_numbers():
    numbers = Table({"a": NumericColumn(np.array([1, 2]), INTEGER)}, np.arange(2))
    assert isinstance(concat([Table.of({"a": []}), numbers])["a"], NumericColumn)
    assert isinstance(concat([Table.of({"a": []}), Table.of({"a": []})])["a"].codes, np.ndarray)


def test_a_missing_cell_hides_no_number():
    column = NumericColumn(np.array([7, 8]), INTEGER, np.array([True, False]))
    assert column.values.tolist() == [0, 8]
    assert np.isnan(column.floats()[0])
    assert column.present().tolist() == [8]
    assert NumericColumn(np.array([7]), INTEGER, np.array([False])).missing is None


def test_lent_numbers_cannot_be_written_to():
    table = frozen_table(Table({"a": NumericColumn(np.array([7, 8]), INTEGER)}, np.arange(2)))
    for each in (table["a"].values, table["a"].codes):
        with pytest.raises(ValueError, match="WRITEABLE"):
            each.setflags(write=True)


def test_weights_may_be_numbers():
    assert weights_of(NumericColumn(np.array([3, 0]), INTEGER)).tolist() == [3, 0]
    with pytest.raises(ValueError, match="negative"):
        weights_of(NumericColumn(np.array([-1]), INTEGER))
    with pytest.raises(ValueError, match="missing"):
        weights_of(NumericColumn(np.array([1, 0]), INTEGER, np.array([False, True])))


def test_numbers_that_stand_for_missing_values():
    assert numbers_among(["?", "-9", "999.0", ""], FLOAT).tolist() == [-9.0, 999.0]
    assert numbers_among(["?", "999.0"], INTEGER).tolist() == []
