"""A policy that changes nothing releases every type of a data frame as it came, or says PPF679."""

from __future__ import annotations

import datetime as dt
import uuid
from decimal import Decimal
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ppdm_flow as pf
from ppdm_flow.core.errors import DataError
from ppdm_flow.sources.parquet.algorithm import beside

DAY = dt.date(1555, 2, 17)
MOMENT = dt.datetime.fromisoformat("2021-10-31T01:30:00.123456")
FIRST, LAST = (dt.datetime.fromisoformat(text) for text in ("0001-01-01", "9999-12-31T23:59:59.999999"))
BERLIN = ZoneInfo("Europe/Berlin")
ARROW = {
    **{f"int{n}": pa.array([1, -3, None, 7], getattr(pa, f"int{n}")()) for n in (8, 16, 32, 64)},
    **{f"uint{n}": pa.array([1, 2**n - 1, None, 0], getattr(pa, f"uint{n}")()) for n in (8, 16, 32, 64)},
    "half": pa.array([np.float16(1.5), np.float16(0.1), None, np.float16(-2)], pa.float16()),
    "float": pa.array([0.1, 1e30, None, 0.0], pa.float32()),
    "double": pa.array([0.1, float("inf"), None, 5e-324]),
    "bool": pa.array([True, False, None, True]),
    "date32": pa.array([DAY, dt.date(9999, 12, 31), None, dt.date(1, 1, 1)]),
    "date64": pa.array([DAY, None, DAY, DAY], pa.date64()),
    **{f"timestamp {u}": pa.array([1, -5, None, 10**9], pa.timestamp(u)) for u in ("s", "ms", "us", "ns")},
    "timestamp UTC": pa.array([MOMENT, None], pa.timestamp("us", "UTC")),
    "timestamp Berlin": pa.array([MOMENT.replace(tzinfo=BERLIN, fold=1), None], pa.timestamp("ns", "Europe/Berlin")),
    "timestamp offset": pa.array([MOMENT, None], pa.timestamp("ms", "+03:00")).cast(pa.timestamp("us", "+03:00")),
    "time32 s": pa.array([dt.time(1, 2, 3), None], pa.time32("s")),
    "time32 ms": pa.array([dt.time(1, 2, 3, 500000), None], pa.time32("ms")),
    "time64 us": pa.array([dt.time(23, 59, 59, 1), None], pa.time64("us")),
    "time64 ns": pa.array([1, None], pa.time64("ns")),
    **{f"duration {u}": pa.array([1, -5, None], pa.duration(u)) for u in ("s", "ms", "us", "ns")},
    "decimal128": pa.array([Decimal("1.10"), Decimal("-3.00"), None]),
    "decimal32": pa.array([Decimal("1.10"), None, Decimal("-3.00")], pa.decimal32(5, 2)),
    "decimal64": pa.array([Decimal("1.10"), None, Decimal("-3.00")], pa.decimal64(15, 2)),
    "decimal256": pa.array([Decimal("1" * 50 + ".10"), None]),
    "string": pa.array(["x", "⊤", None, "007"]),
    "large_string": pa.array(["x", "y", None], pa.large_string()),
    "string_view": pa.array(["x", "y", None], pa.string_view()),
    "null": pa.nulls(3),
    "categories of texts": pa.array(["x", "y", None]).dictionary_encode(),
    "categories of numbers": pa.array([404, 202, None]).dictionary_encode(),
}
REFUSED = {
    "binary": pa.array([b"x", None]),
    "large_binary": pa.array([b"x", None], pa.large_binary()),
    "binary_view": pa.array([b"x", None], pa.binary_view()),
    "fixed_size_binary": pa.array([b"xy", None], pa.binary(2)),
    "list": pa.array([[1, 2], []]),
    "struct": pa.array([{"x": 1}, {"x": 2}]),
    "map": pa.array([[("a", 1)], []], pa.map_(pa.string(), pa.int64())),
    "uuid": pa.array([uuid.UUID(int=1).bytes, None], pa.uuid()),
    "unknown zone": pa.array([1, None], pa.timestamp("s", "Mars/Base")),
    "interval": pa.array([(1, 2, 3), None], pa.month_day_nano_interval()),
}
PANDAS = {
    **{name: pd.Series([1, None, 3], dtype=name) for name in ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt64")},
    **{name: pd.Series([1, 0, 3], dtype=name) for name in ("int8", "int16", "int32", "int64", "uint8", "uint64")},
    **{
        name: pd.Series([0.5, np.nan, -2], dtype=name)
        for name in ("float16", "float32", "float64", "Float32", "Float64")
    },
    "Int64 that floats do not hold": pd.Series([1582218195625938945, None], dtype="Int64"),
    "bool": pd.Series([True, False]),
    "boolean": pd.Series([True, None], dtype="boolean"),
    "object of bools": pd.Series([True, None, False], dtype=object),
    "object of texts": pd.Series(["x", None], dtype=object),
    "string": pd.Series(["x", None], dtype="string"),
    "string[pyarrow]": pd.Series(["x", None], dtype="string[pyarrow]"),
    "category": pd.Series(pd.Categorical(["[1] Male", None])),
    "category of integers": pd.Series(pd.Categorical([404, 202])),
    "object of dates": pd.Series([DAY, None], dtype=object),
    "object of times": pd.Series([dt.time(1, 2), None], dtype=object),
    "object of moments of one zone": pd.Series(
        [MOMENT.replace(tzinfo=BERLIN, fold=1), MOMENT.replace(tzinfo=BERLIN), None], dtype=object
    ),
    "object of first and last moments": pd.Series([FIRST, LAST, pd.NaT], dtype=object),
    "object of integers and floats": pd.Series([1, 2.5, np.nan], dtype=object),
    "object of decimals": pd.Series([Decimal("1.10"), None], dtype=object),
    "datetime64[s]": pd.Series(["1700-01-01", None], dtype="datetime64[s]"),
    "datetime64[us]": pd.Series([MOMENT, None], dtype="datetime64[us]"),
    "datetime64[ns]": pd.to_datetime(pd.Series(["2021-01-01 00:00:00.123456789"])),
    "datetime with a zone": pd.Series(pd.to_datetime(["2021-10-31 00:30"])).dt.tz_localize("UTC").dt.tz_convert(BERLIN),
    "timedelta64": pd.Series(pd.to_timedelta([1, None], unit="h")),
    "ArrowDtype": pd.Series([1, None], dtype=pd.ArrowDtype(pa.int32())),
    "nothing": pd.Series([None, None], dtype=object),
}
PANDAS_REFUSED = {
    "cut": pd.Series(pd.cut(np.array([1, 7]), [0, 5, 10])),
    "interval": pd.Series(pd.interval_range(0, 2)),
    "period": pd.Series(pd.period_range("2020-01", periods=2, freq="M")),
    "category of periods": pd.Series(pd.Categorical(pd.period_range("2020-01", periods=2, freq="M"))),
    "uuid": pd.Series([uuid.UUID(int=1), None], dtype=object),
    "bytes": pd.Series([b"x", None], dtype=object),
    "lists": pd.Series([[1], [2]]),
    "dicts": pd.Series([{"x": 1}, {"x": 2}]),
    "several kinds": pd.Series([1, "two"], dtype=object),
    "dates and datetimes": pd.Series([DAY, MOMENT], dtype=object),
    "dates and midnights": pd.Series([DAY, FIRST], dtype=object),
    "naive and aware": pd.Series([MOMENT.replace(tzinfo=BERLIN), MOMENT], dtype=object),
    "two zones": pd.Series([MOMENT.replace(tzinfo=BERLIN), MOMENT.replace(tzinfo=dt.UTC)], dtype=object),
    "times with an offset": pd.Series([dt.time(1, 2, tzinfo=dt.UTC), None], dtype=object),
    "decimals with NaN": pd.Series([Decimal("NaN"), Decimal(2)], dtype=object),
    "decimals that are all NaN": pd.Series([Decimal("NaN"), Decimal("sNaN")], dtype=object),
    "integers that floats do not hold": pd.Series([2**60 + 1, 0.5], dtype=object),
    "category of times with an offset": pd.Series(pd.Categorical([dt.time(1, 2, tzinfo=dt.UTC)])),
    "complex": pd.Series([1 + 2j]),
    "sparse": pd.Series(pd.arrays.SparseArray([0, 1])),
    "half a surrogate": pd.Series(["ok", "\ud800"], dtype=object),
    "NUL": pd.Series(["o\0k", "b"], dtype=object),
}


def policy(**attribute):
    return {
        "version": 1,
        "name": "same",
        "source": {"path": "x.parquet"},
        "attributes": {"a": {"role": "insensitive", **attribute}},
        "releases": {"out": {"path": "out.parquet"}},
    }


def released(frame, tmp_path, **attribute):
    return pf.run(policy(**attribute), frame, out=tmp_path / "runs", home=tmp_path).table()["a"].combine_chunks()


def plain(array: pa.Array) -> pa.Array:
    """Return the array as Parquet has it: one type of texts, no codes, milliseconds or finer, decimals of 128 bits."""
    coarse = {pa.date64(): pa.date32(), pa.timestamp("s"): pa.timestamp("ms"), pa.time32("s"): pa.time32("ms")}
    if pa.types.is_decimal(array.type) and array.type.bit_width < 128:
        return array.cast(pa.decimal128(array.type.precision, array.type.scale))
    if array.type in coarse:
        return array.cast(coarse[array.type])
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    texts = pa.types.is_large_string(array.type) or pa.types.is_string_view(array.type) or pa.types.is_null(array.type)
    return array.cast(pa.string()) if texts else array


def same(released_cells: pa.Array, expected: pa.Array) -> None:
    """Hold cells against others, in any order: releases are shuffled."""
    assert released_cells.type == expected.type
    assert sorted(map(repr, released_cells.to_pylist())) == sorted(map(repr, expected.to_pylist()))


@pytest.mark.slow(quick=8)
@pytest.mark.parametrize("name", ARROW)
def test_types_of_arrow_leave_as_they_came(name, tmp_path):
    same(released(pa.table({"a": ARROW[name]}), tmp_path), plain(ARROW[name]))


@pytest.mark.slow(quick=8)
@pytest.mark.parametrize("name", PANDAS)
def test_types_of_pandas_leave_as_they_came(name, tmp_path):
    frame = pd.DataFrame({"a": PANDAS[name]})
    expected = pa.Array.from_pandas(frame["a"])
    expected = expected.combine_chunks() if isinstance(expected, pa.ChunkedArray) else expected
    same(released(frame, tmp_path), plain(expected))


POLARS = (
    "Int8 Int64 UInt8 UInt64 Float32 Float64 Boolean String Categorical Enum Date Datetime Time Duration Decimal Null"
)


@pytest.mark.slow(quick=8)
@pytest.mark.parametrize("name", POLARS.split())
def test_types_of_polars_leave_as_they_came(name, tmp_path):
    polars = pytest.importorskip("polars", reason="polars is not installed")
    values = {
        "Boolean": [True, None], "String": ["x", None], "Categorical": ["x", None], "Enum": ["x", None],
        "Date": [DAY, None], "Datetime": [MOMENT, None], "Time": [dt.time(1, 2, 3), None], "Null": [None, None],
        "Duration": [dt.timedelta(hours=1), None], "Decimal": [Decimal("1.50"), None],
    }.get(name, [1, None])  # fmt: skip
    kind = polars.Enum(["x"]) if name == "Enum" else getattr(polars, name)
    frame = polars.DataFrame({"a": polars.Series("a", values, dtype=kind)})
    same(released(frame, tmp_path), plain(frame.to_arrow()["a"].combine_chunks()))


@pytest.mark.slow(quick=6)
@pytest.mark.parametrize("name", [*REFUSED, *PANDAS_REFUSED])
def test_types_that_no_release_keeps_are_refused(name, tmp_path):
    frame = pa.table({"a": REFUSED[name]}) if name in REFUSED else pd.DataFrame({"a": PANDAS_REFUSED[name]})
    with pytest.raises(DataError) as error:
        released(frame, tmp_path)
    assert [d.code for d in error.value.diagnostics] == ["PPF679"]
    assert "`a`" in str(error.value) or name == "interval"
    assert not list((tmp_path / "runs").glob("*/*/released"))


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("cut", ["(0, 5]", "(5, 10]"]),
        ("period", ["2020-01", "2020-02"]),
        ("uuid", ["00000000-0000-0000-0000-000000000001", None]),
        ("bytes", ["x", None]),
    ],
)
def test_they_are_texts_where_the_policy_says_so(name, texts, tmp_path):
    cells = released(pd.DataFrame({"a": PANDAS_REFUSED[name]}), tmp_path, type="text")
    same(cells, pa.array(texts, pa.string()))


def test_identifiers_that_stay_behind_may_be_of_any_type(tmp_path):
    frame = pd.DataFrame({"a": [1, 2], "id": [uuid.UUID(int=1), uuid.UUID(int=2)]})
    given = policy()
    given["attributes"]["id"] = {"role": "identifier"}
    assert pf.run(given, frame, out=tmp_path / "runs", home=tmp_path).table().column_names == ["a"]


def test_a_declared_type_is_that_of_the_release(tmp_path):
    frame = pd.DataFrame({"a": pd.Series([1, 2], dtype="int8")})
    same(released(frame, tmp_path, type="text"), pa.array(["1", "2"]))
    same(released(frame, tmp_path, type="integer"), pa.array([1, 2]))


def test_labels_are_texts(tmp_path):
    """What a step has changed has the type of its labels."""
    given = policy(hierarchy={"intervals": [0, 5, 10]})
    given["steps"] = {"coarser": {"use": "generalize", "with": {"attributes": ["a"]}}}
    cells = pf.run(given, pa.table({"a": [1, 7]}), out=tmp_path / "runs", home=tmp_path).table()["a"].combine_chunks()
    same(cells, pa.array(["[0, 5)", "[5, 10)"]))


def test_parquet_and_partitions_keep_types(tmp_path):
    frame = pa.table(
        {
            "a": pa.array([1, 2, 1], pa.int16()),
            "b": [0.5, 1.5, 2.5],
            "t": ARROW["timestamp Berlin"].take(pa.array([0, 1, 0])),
        }
    )
    pq.write_table(frame, tmp_path / "x.parquet")
    given = policy()
    given["attributes"] |= {"b": {"role": "insensitive"}, "t": {"role": "insensitive"}}
    given["releases"]["out"] = {"path": "out", "format": "parquet", "partition_by": ["a"]}
    found = pf.run(given, tmp_path / "x.parquet", out=tmp_path / "runs", home=tmp_path).table()
    assert [str(t) for t in found.select(["b", "t"]).schema.types] == ["double", "timestamp[ns, tz=Europe/Berlin]"]
    assert sorted(found["b"].to_pylist()) == [0.5, 1.5, 2.5]


def test_the_file_says_nothing_but_types(tmp_path):
    """A schema of Arrow's, which some types need, is no leftover of the source."""
    released(pa.table({"a": ARROW["duration ns"]}), tmp_path)
    (file,) = (tmp_path / "runs").rglob("out.parquet")
    assert list(beside(file)) == []


def test_timestamps_finer_than_microseconds_keep_that_only_without_a_type(tmp_path):
    fine, whole = (pa.array([n, None, n], pa.timestamp("ns")) for n in (1, 1_000))
    same(released(pa.table({"a": fine}), tmp_path), fine)
    same(released(pa.table({"a": whole}), tmp_path, type="timestamp"), whole.cast(pa.timestamp("us")))
    with pytest.raises(DataError, match="PPF712"):
        released(pa.table({"a": fine}), tmp_path, type="timestamp")


@pytest.mark.parametrize("kind", ["integer", "float", "text"])
def test_durations_have_no_other_type(kind, tmp_path):
    with pytest.raises(DataError, match="PPF679"):
        released(pd.DataFrame({"a": pd.to_timedelta([1, 2], unit="h")}), tmp_path, type=kind)


@pytest.mark.parametrize(
    ("missing", "expected"),
    [(None, [None, "x", None]), ([""], [None, "x", None]), ([], ["", "x", None]), (["x"], ["", None, None])],
)
def test_an_empty_text_is_missing_unless_the_policy_says_otherwise(missing, expected, tmp_path):
    given = policy()
    given["source"] |= {} if missing is None else {"missing": missing}
    frame = pd.DataFrame({"a": ["", "x", None]})
    cells = pf.run(given, frame, out=tmp_path / "runs", home=tmp_path).table()["a"].combine_chunks()
    same(cells, pa.array(expected, pa.string()))
