"""Readers of sets: against plain Python, and against files that are not in order."""

from __future__ import annotations

import csv
import gzip
import io
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.core.errors import DataError
from ppdm_flow.engine.streams.rebatching import partitions
from ppdm_flow.sources import lines
from ppdm_flow.tables.sets.arrow import from_arrow

DATA = Path(os.environ.get("PPDM_DATA", Path(__file__).parents[3] / "shared" / "data")) / "fimi"
SETTINGS = examples(15, suppress_health_check=[HealthCheck.function_scoped_fixture])
NUMBERS = st.lists(st.lists(st.integers(0, 10**6) | st.integers(0, 30), unique=True, max_size=8), max_size=20)
NAME = st.text(
    st.characters(exclude_characters="\0\r\n", exclude_categories=("Cs",)), min_size=1, max_size=5
) | st.sampled_from(['"', '""', ",", " a ", "é", "a,b", "12"])
NAMES = st.lists(st.lists(NAME, unique=True, max_size=5), max_size=12)


def sets(reader, kind, path, **options):
    """Rows as the engine sees them, each as a sorted list."""
    source = reader.open(kind, path, **options)
    found = []
    for table in partitions(source.batches(source.names()), ("b",), 7):
        column = table.sets["b"]
        assert column.valid()
        assert column.categories.to_pylist() == sorted(column.categories.to_pylist(), key=str.encode)
        found += [sorted(row) for row in column.texts()]
    return found


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(lines, "_BLOCK", 16)


@SETTINGS
@given(rows=NUMBERS, end=st.sampled_from(["\n", "\r\n", " \n", "\t\n"]), packed=st.booleans())
def test_item_numbers_are_what_python_reads(reader, small_blocks, rows, end, packed):
    text = "".join(" ".join(map(str, row)) + end for row in rows).encode()
    path = reader.path("t.dat", gzip.compress(text) if packed else text)
    assert sets(reader, "transactions", path) == [sorted(map(str, row)) for row in rows]


@SETTINGS
@given(rows=NAMES, delimiter=st.sampled_from([",", ";", "\t"]), end=st.sampled_from(["\n", "\r\n"]))
def test_names_are_what_python_reads(reader, small_blocks, rows, delimiter, end):
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter, lineterminator=end)
    for row in rows:
        if row:
            writer.writerow(row)
        else:
            out.write(end)
    path = reader.path("t.baskets", out.getvalue().encode())
    assert sets(reader, "baskets", path, delimiter=delimiter) == [sorted(row) for row in rows]


@SETTINGS
@given(
    rows=st.lists(st.lists(NAME, unique=True, min_size=1, max_size=5), min_size=1, max_size=10), seed=st.integers(0, 9)
)
def test_pairs_in_any_order_are_gathered(reader, rows, seed):
    pairs = [(f"id{i}", item) for i, row in enumerate(rows) for item in row]
    order = np.random.default_rng(seed).permutation(len(pairs))
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(["shop", "id", "item"])
    for place in order:
        writer.writerow(["x", *pairs[place]])
    path = reader.path("t.csv", out.getvalue().encode())
    found = sets(reader, "long", path, id="id", item="item")
    first = dict.fromkeys(pairs[place][0] for place in order)
    assert found == [sorted(rows[int(name[2:])]) for name in first]


def test_padding_blanks_and_quotes(reader):
    path = reader.path("t.baskets", b'\xef\xbb\xbfa, b ,,\n,,\n"x, y","q""q"\n')
    assert sets(reader, "baskets", path) == [sorted(["a", " b "]), [], sorted(["x, y", 'q"q'])]
    assert sets(reader, "baskets", path, strip="true") == [["a", "b"], [], sorted(["x, y", 'q"q'])]


def test_numbers_keep_no_leading_zeros_and_no_final_line_end_is_needed(reader):
    assert sets(reader, "transactions", reader.path("t.dat", b"\xef\xbb\xbf007 12\n\n 5")) == [["12", "7"], [], ["5"]]


def test_long_form_without_a_header_and_with_empty_sets(reader):
    path = reader.path("t.csv", b"1,a\n2,\n1,b\n")
    options = {"id": "t", "item": "i", "columns": ["t", "i"]}
    assert sets(reader, "long", path, **options) == [["a", "b"], []]
    fault = refused(reader, "long", path, empty="error", **options)
    assert (fault.code, fault.message) == ("PPF756", "row 2 has no items")


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        (b"1 2\n3 -1\n", "PPF755", 2),
        (b"1 2\n3 zqcanary\n", "PPF755", 2),
        (b"1 2\n\n3 4.5\n", "PPF755", 3),
        (b"1 2\n3\x00\n", "PPF706", 2),
        (b"1 2\r3 4\r", "PPF755", 1),
        (b"1 1234567890123456789\n", "PPF755", 1),
        (b"1 2\n\xff\xfe\n", "PPF755", 2),
        (b"item\n1 2\n", "PPF755", 1),
    ],
)
def test_lines_that_are_no_item_numbers(reader, text, code, line):
    assert f"line {line} " in reader.fails("transactions", reader.path("t.dat", text), code)


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        (b'a\n"zqcanary\nb"\n', "PPF755", 2),
        (b'a\n"b"zqcanary\n', "PPF755", 2),
        (b'a,""\n', "PPF755", 1),
        (b"a\rb\r", "PPF755", 1),
        (b"a\nzq\x00canary\n", "PPF706", 2),
        (b"a\nb\nzqcanary\xff\n", "PPF704", 3),
    ],
)
def test_lines_that_are_no_names(reader, text, code, line):
    assert f"line {line} " in reader.fails("baskets", reader.path("t.baskets", text), code)


def test_a_cut_off_gzip_stream_is_no_shorter_file(reader):
    whole = gzip.compress(b"1 2 3\n" * 4000)
    for kind, name in (("transactions", "t.dat.gz"), ("baskets", "t.baskets.gz")):
        reader.fails(kind, reader.path(name, whole[: len(whole) // 2]), "PPF705")


@pytest.mark.parametrize("kind", ["transactions", "baskets"])
def test_a_file_that_is_not_there(reader, kind):
    source = reader.open(kind, reader.folder / "none.dat")
    with pytest.raises(DataError) as caught:
        source.names()
    assert caught.value.diagnostics[0].code == "PPF701"


def refused(reader, kind, path, **options):
    with pytest.raises(DataError) as caught:
        sets(reader, kind, path, **options)
    return caught.value.diagnostics[0]


def test_repeated_items_are_refused_or_merged_and_counted(reader):
    fimi, names = reader.path("t.dat", b"5\n3 1 3 3\n"), reader.path("t.baskets", b"a\nb,zqcanary,b\n")
    pairs = reader.path("t.csv", b"id,item\n1,a\n2,zqcanary\n1,b\n2,zqcanary\n")
    lists = reader.folder / "t.parquet"
    pq.write_table(pa.table({"items": pa.array([[5], [3, 1, 3, 3]])}), lists)
    for kind, path, row, options in (
        ("transactions", fimi, 2, {}),
        ("baskets", names, 2, {}),
        ("long", pairs, 4, {"id": "id", "item": "item"}),
        ("parquet", lists, 2, {}),
    ):
        fault = refused(reader, kind, path, **options)
        assert (fault.code, f"row {row}" in fault.message) == ("PPF751", True)
        assert "zqcanary" not in str(fault)
        source = reader.open(kind, path, repeated="merge", **options)
        merged = [from_arrow(b.column(0)) for b in source.batches(source.names())]
        assert sum(len(m.items) for m in merged) == {"transactions": 3, "parquet": 3, "baskets": 3, "long": 3}[kind]
        assert source.repeated == {"transactions": 2, "parquet": 2, "baskets": 1, "long": 1}[kind]


@pytest.mark.parametrize("kind", ["transactions", "baskets"])
def test_empty_sets_are_kept_or_refused(reader, kind):
    path = reader.path("t.dat", b"1 2\n\n3\n")
    assert len(sets(reader, kind, path)) == 3
    assert "line 2 has no items" in reader.fails(kind, path, "PPF756", empty="error")


def test_long_form_faults(reader):
    fails, path = reader.fails, reader.path
    options = {"id": "id", "item": "item"}
    assert "row 2" in fails("long", path("a.csv", b"id,item\n1,a\n,zqcanary\n"), "PPF757", **options)
    assert "did you mean" in str(refused(reader, "long", path("b.csv", b"id,items\n1,a\n"), **options))
    fails("long", path("c.csv", b"id,item\n1,a\n2\n"), "PPF703", **options)
    narrow = refused(reader, "long", path("d.csv", b"1,a\n"), columns=["id", "item", "z"], **options)
    assert narrow.code == "PPF710"


def test_lists_of_numbers_and_other_columns_in_parquet(reader):
    path = reader.folder / "t.parquet"
    table = pa.table({"town": ["x", None], "basket": pa.array([[3, 1], []], pa.list_(pa.int16()))})
    pq.write_table(table, path)
    source = reader.open("parquet", path)
    (found,) = partitions(source.batches(("town", "basket")), ("town", "basket"), 10)
    assert found["town"].texts() == ["x", None]
    assert found.sets["basket"].texts() == [["1", "3"], []]


@pytest.mark.parametrize("rows", [[["a"], None], [["a"], ["b", None]]])
def test_missing_sets_and_items_in_parquet(reader, rows):
    path = reader.folder / "t.parquet"
    pq.write_table(pa.table({"basket": pa.array(rows, pa.list_(pa.string()))}), path)
    fault = refused(reader, "parquet", path)
    assert fault.code == "PPF751"
    assert "row 2" in fault.message


def test_lists_of_lists_are_no_sets(reader):
    path = reader.folder / "t.parquet"
    pq.write_table(pa.table({"basket": pa.array([[["a"]]])}), path)
    assert refused(reader, "parquet", path).code == "PPF719"


@pytest.mark.slow
@pytest.mark.skipif(not (DATA / "retail.dat.gz").exists(), reason="needs shared/data/fimi (PPDM_DATA)")
@pytest.mark.parametrize("name", ["retail", "BMS-WebView-1", "BMS-WebView-2", "kosarak_first10k", "T10I4D100K"])
def test_fimi_files_are_read_whole(reader, name):
    path = DATA / f"{name}.dat.gz"
    plain = [sorted(set(line.split())) for line in gzip.decompress(path.read_bytes()).decode().splitlines()]
    source = reader.open("transactions", path)
    rows = pairs = 0
    first = []
    for batch in source.batches(source.names()):
        column = from_arrow(batch.column(0))
        rows, pairs = rows + len(column), pairs + len(column.items)
        first = first or column.take(slice(0, 50)).texts()
    assert (rows, pairs) == (len(plain), sum(map(len, plain)))
    assert first == plain[:50]
