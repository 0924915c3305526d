"""The Parquet reader: canonical texts, row groups, damaged files."""

from __future__ import annotations

import datetime as dt
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow.engine.streams.coding import encode_texts
from ppdm_flow.tables.arrow_texts import rendered, texts


def written(tmp_path, columns: dict, **options) -> object:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table(columns), path, **options)
    return path


def test_types_have_their_canonical_text(reader, tmp_path):
    columns = {
        "text": ["a", "", None],
        "small": pa.array([1, -2, None], pa.int8()),
        "large": pa.array([2**63, 0, None], pa.uint64()),
        "double": pa.array([1.0, 1e16, None]),
        "single": pa.array([0.1, 2.5, None], pa.float32()),
        "half": pa.array([np.float16(1.5), None, None], pa.float16()),
        "truth": [True, False, None],
        "day": [dt.date(2024, 2, 29), dt.date(1, 1, 1), None],
        "moment": [dt.datetime(2024, 1, 1, 2, 3, 4, 5000), dt.datetime(2024, 1, 1), None],  # noqa: DTZ001  # it has no zone
        "zoned": pa.array([dt.datetime(2024, 1, 1, tzinfo=dt.UTC), None, None], pa.timestamp("ns", "UTC")),
        "time": [dt.time(1, 2, 3), dt.time(0, 0, 0, 1), None],
        "money": pa.array([Decimal("1.10"), Decimal("-0.05"), None], pa.decimal128(10, 2)),
        "none": pa.nulls(3),
    }
    assert reader.table("parquet", written(tmp_path, columns)) == {
        "text": ["a", "", None],
        "small": ["1", "-2", None],
        "large": ["9223372036854775808", "0", None],
        "double": ["1.0", "1e+16", None],
        "single": ["0.1", "2.5", None],
        "half": ["1.5", None, None],
        "truth": ["true", "false", None],
        "day": ["2024-02-29", "0001-01-01", None],
        "moment": ["2024-01-01T02:03:04.005", "2024-01-01T00:00:00", None],
        "zoned": ["2024-01-01T00:00:00Z", None, None],
        "time": ["01:02:03", "00:00:00.000001", None],
        "money": ["1.10", "-0.05", None],
        "none": [None, None, None],
    }


@given(st.lists(st.floats(allow_nan=False) | st.none(), min_size=1, max_size=30))
def test_floats_read_back_as_the_same_number(values):
    found = rendered(pa.array(values, pa.float64())).to_pylist()
    assert found == [None if v is None else repr(v + 0.0) for v in values]


@pytest.mark.parametrize("index", [pa.int8(), pa.uint16(), pa.int64()])
def test_dictionaries_of_any_index_type(index):
    array = pa.DictionaryArray.from_arrays(pa.array([1, None, 0], index), pa.array([10, 20]))
    found = texts(array)
    assert found.type == pa.dictionary(pa.int32(), pa.string())
    assert found.to_pylist() == ["20", None, "10"]


def test_dictionaries_with_a_text_twice_or_with_null_are_put_in_order():
    array = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, None]), pa.array(["a", "a", None]))
    found = texts(array)
    assert found.to_pylist() == ["a", "a", None, None]
    assert found.dictionary.to_pylist() == ["a"]


def test_text_columns_keep_their_dictionaries(reader, tmp_path):
    path = written(tmp_path, {"x": ["a", "b"] * 5_000}, row_group_size=1_000)
    batches = reader.batches("parquet", path)
    assert sum(b.num_rows for b in batches) == 10_000
    assert all(len(b.column(0).dictionary) == 2 for b in batches)


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("options", [{}, {"row_group_size": 70_001}, {"use_dictionary": False}])
def test_columns_of_many_texts_are_read_as_they_are(reader, tmp_path, options):
    many = [None if i % 97 == 0 else f"person-{i * 7919 % 300_007}" for i in range(300_000)]
    few = [("a", "b", None)[i % 3] for i in range(300_000)]
    path = written(tmp_path, {"many": many, "few": few}, **options)
    batches = list(reader.batches("parquet", path))
    assert all(pa.types.is_string(batch.column(0).type) for batch in batches)
    assert [cell for batch in batches for cell in batch.column(0).to_pylist()] == many
    assert [cell for batch in batches for cell in batch.column(1).to_pylist()] == few
    coded = [encode_texts(batch.column(0)) for batch in batches]
    assert [cell for column in coded for cell in column.texts()] == many
    assert max(len(column.categories) for column in coded) <= 1 << 18  # not of all blocks so far


def test_many_bytes_that_claim_to_be_text_are_checked(reader, tmp_path):
    good = pa.array([f"person-{i}" for i in range(200_000)])
    _, offsets, data = good.buffers()
    bad = data.to_pybytes()[:-1] + b"\xff"
    path = written(tmp_path, {"t": pa.StringArray.from_buffers(len(good), offsets, pa.py_buffer(bad))})
    assert "`t`" in reader.fails("parquet", path, "PPF704")


def test_columns_by_name_in_any_order_and_none_at_all(reader, tmp_path):
    path = written(tmp_path, {"a": [1], "b": [2], "c": [3]})
    assert reader.table("parquet", path, ["c", "a"]) == {"c": ["3"], "a": ["1"]}
    assert sum(b.num_rows for b in reader.batches("parquet", path, [])) == 1


def test_a_nested_column_is_an_error_only_where_it_is_read(reader, tmp_path):
    path = written(tmp_path, {"flat": ["x"], "nest": [[["zqcanary"]]], "record": [{"zqcanary": 1}]})
    assert reader.table("parquet", path, ["flat"]) == {"flat": ["x"]}
    assert "`nest`" in reader.fails("parquet", path, "PPF719")


def test_bytes_are_text_where_they_are_utf8(reader, tmp_path):
    assert reader.table("parquet", written(tmp_path, {"b": [b"abc"]})) == {"b": ["abc"]}
    path = written(tmp_path, {"b": [b"zqcanary\xff"]})
    assert "`b`" in reader.fails("parquet", path, "PPF704")


def test_bytes_that_claim_to_be_text_are_checked(reader, tmp_path):
    bad = pa.StringArray.from_buffers(1, *pa.array([b"zqcanary\xff"]).buffers()[1:])
    path = written(tmp_path, {"t": bad})
    assert "`t`" in reader.fails("parquet", path, "PPF704")


def test_damaged_files(reader, tmp_path):
    path = written(tmp_path, {"x": ["zqcanary"] * 1_000})
    whole = path.read_bytes()
    for name, content in {"cut": whole[:-20], "text": b"zqcanary,1\n", "empty": b"", "head": b"PAR1"}.items():
        assert "Parquet" in reader.fails("parquet", reader.path(f"{name}.parquet", content), "PPF717")
    assert "no such file" in reader.fails("parquet", tmp_path / "none.parquet", "PPF701")


def test_a_file_that_is_damaged_in_the_middle(reader, tmp_path):
    path = written(tmp_path, {"x": [f"zqcanary{i}" for i in range(50_000)]}, compression="zstd", use_dictionary=False)
    content = bytearray(path.read_bytes())
    content[1_000:60_000] = b"\xff" * 59_000
    assert "Parquet" in reader.fails("parquet", reader.path("mid.parquet", bytes(content)), "PPF717")


def test_a_table_without_rows(reader, tmp_path):
    assert reader.table("parquet", written(tmp_path, {"a": pa.array([], pa.string())})) == {"a": []}


@pytest.mark.slow
@pytest.mark.parametrize("group", [7, 100_000])
def test_the_thread_that_asks_for_a_block_may_decode_it(reader, tmp_path, group):
    number = np.random.default_rng(5).integers(0, 40, 300_000)
    texts_, lists = pa.array([f"t{n}" for n in number]), pa.array([[str(n)] * (n % 2) for n in number])
    columns = {"n": number, "t": texts_, "d": texts_.dictionary_encode(), "s": lists}
    rows = 70 if group == 7 else len(number)
    path = written(tmp_path, {n: pa.array(c).slice(0, rows) for n, c in columns.items()}, row_group_size=group)
    source = reader.open("parquet", path)
    blocks = list(source.batches(["d", "n", "t", "s"]))
    again = source.threadless_batches(["d", "n", "t", "s"])
    with ThreadPoolExecutor(1) as other:
        taken = [next(again), other.submit(next, again).result(), *again] if len(blocks) > 1 else list(again)
    assert len(taken) == len(blocks)
    assert all(a.equals(b) for a, b in zip(taken, blocks, strict=True))
    assert sum(len(b) for b in blocks) == rows


@pytest.mark.parametrize("kind", [pa.float16(), pa.float32(), pa.float64()])
def test_a_zero_has_no_sign(kind):
    numbers = pa.array([0.0, -0.0, 1.5, -1.5, None], pa.float64()).cast(kind)
    assert rendered(numbers).to_pylist() == ["0.0", "0.0", "1.5", "-1.5", None]
    assert texts(numbers).dictionary.to_pylist() == ["0.0", "1.5", "-1.5"]
