"""What both sinks promise: every cell comes back, and the bytes depend on the rows alone."""

from __future__ import annotations

import contextlib

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.sinks.csv import algorithm as csv
from ppdm_flow.sinks.parquet import algorithm as parquet
from ppdm_flow.sinks.parquet.spec import ParquetSinkParams

NASTY = ["", '"', "a,b", "x\ny", "x\r\ny", "x\ry", " a ", "⊥", "é", "NULL", "\\N", "'", '""', "a\tb", "#", ";", None]
CELL = st.sampled_from(NASTY) | st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=6)
BOTH = pytest.mark.parametrize("kind", ["csv", "parquet"])


@BOTH
@examples(20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.tuples(CELL, CELL), max_size=12), sizes=st.lists(st.integers(1, 5), min_size=1, max_size=3))
def test_every_cell_comes_back_and_batches_leave_no_trace(writer, kind, rows, sizes):
    path = writer.write(kind, ["a", "b"], rows, sizes)
    assert writer.read(kind, path) == rows
    assert path.read_bytes() == writer.write(kind, ["a", "b"], rows, [len(rows) + 1]).read_bytes()


@BOTH
@examples(12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.tuples(CELL), min_size=1, max_size=12))
def test_a_single_column_comes_back_too(writer, kind, rows):
    assert writer.read(kind, writer.write(kind, ["a"], rows, [3])) == rows


@pytest.mark.slow(quick=1)
@BOTH
@examples(12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.tuples(CELL, CELL), min_size=1, max_size=12))
def test_duckdb_reads_the_same_cells(writer, kind, rows):
    path = writer.write(kind, ["a", "b"], rows, [4])
    scan = (
        f"read_parquet('{path}')"
        if kind == "parquet"
        else f"""read_csv('{path}', auto_detect = false, header = true, delim = ',', quote = '"', escape = '"',
                nullstr = '', allow_quoted_nulls = false, columns = {{'a': 'VARCHAR', 'b': 'VARCHAR'}})"""
    )
    with duckdb.connect(":memory:") as connection:
        assert connection.execute(f"SELECT * FROM {scan}").fetchall() == rows


@BOTH
def test_values_that_no_row_has_are_nowhere_in_the_file(writer, kind):
    path = writer.write(kind, ["a", "b"], [("x", None), ("y", "z")] * 50, [7])
    assert b"zqunused" not in path.read_bytes()


@BOTH
def test_no_rows_make_a_file_with_names(writer, kind):
    path = writer.write(kind, ["a", "b,c"], [], [1])
    assert writer.read(kind, path) == []
    assert b"b,c" in path.read_bytes()


@BOTH
def test_a_file_that_exists_is_never_overwritten(writer, kind):
    path = writer.write(kind, ["a"], [("x",)], [1])
    writer.count -= 1
    with pytest.raises(FileExistsError):
        writer.write(kind, ["a"], [("y",)], [1])
    assert writer.read(kind, path) == [("x",)]


def test_csv_quotes_only_what_has_to_be_quoted(writer):
    path = writer.write("csv", ["a", "b c"], [("x", None), ("", 'say "hi"'), ("⊥", "1,2")], [3])
    assert path.read_text() == 'a,b c\nx,\n"","say ""hi"""\n⊥,"1,2"\n'


def test_csv_batches_larger_than_a_stretch(writer, monkeypatch):
    monkeypatch.setattr(csv, "_ROWS", 3)
    rows = [(NASTY[i % len(NASTY)], str(i)) for i in range(40)]
    assert writer.read("csv", writer.write("csv", ["a", "b"], rows, [40])) == rows


@pytest.mark.parametrize(("name", "mark"), [(";", ";"), ("tab", "\t")])
def test_csv_delimiters(writer, name, mark):
    rows = [(f"a{mark}b", "1,2"), (None, "")]
    path = writer.write("csv", ["a", "b"], rows, [1], delimiter=name)
    assert path.read_text().splitlines()[0] == f"a{mark}b"
    assert writer.read("csv", path, delimiter=name) == rows


def test_csv_is_compressed_where_its_name_says_so_with_the_same_bytes_every_time(writer):
    rows = [("x", str(i)) for i in range(1_000)]
    one = writer.write("csv", ["a", "b"], rows, [7], ".gz")
    two = writer.write("csv", ["a", "b"], rows, [1_000], ".gz")
    assert one.read_bytes()[:2] == b"\x1f\x8b"
    assert writer.read("csv", one) == rows
    assert one.read_bytes()[4:8] == bytes(4)
    assert one.read_bytes() == two.read_bytes()


def test_row_groups_have_a_fixed_size_whatever_the_batches(writer, monkeypatch):
    monkeypatch.setattr(parquet, "ROW_GROUP", 100)
    rows = [(str(i % 7), None if i % 5 == 0 else str(i)) for i in range(1_050)]
    files = [writer.write("parquet", ["a", "b"], rows, sizes) for sizes in ([1_050], [99, 1, 250], [100], [333])]
    assert len({f.read_bytes() for f in files}) == 1
    with pq.ParquetFile(files[0]) as file:
        groups = [file.metadata.row_group(i).num_rows for i in range(file.metadata.num_row_groups)]
    assert groups == [100] * 10 + [50]
    assert writer.read("parquet", files[0]) == rows


def test_parquet_has_text_columns_zstd_and_no_metadata_of_pandas_or_arrow(writer):
    path = writer.write("parquet", ["a"], [("x",), (None,)], [2])
    with pq.ParquetFile(path) as file:
        assert file.schema_arrow.metadata is None
        assert file.metadata.metadata is None
        assert str(file.schema_arrow.field("a").type) == "string"
        assert file.metadata.row_group(0).column(0).compression == "ZSTD"
    other = writer.write("parquet", ["a"], [("x",)], [1], compression="none")
    with pq.ParquetFile(other) as file:
        assert file.metadata.row_group(0).column(0).compression == "UNCOMPRESSED"


@pytest.mark.parametrize("failing", [1, 2, 4])
def test_a_parquet_file_of_which_a_row_group_failed_holds_nothing(tmp_path, monkeypatch, failing):
    monkeypatch.setattr(parquet, "ROW_GROUP", 256)
    write_table, begun = pq.ParquetWriter.write_table, []

    def fails(self, table, row_group_size):
        begun.append(table.num_rows)
        if len(begun) == failing:
            raise OSError(28, "No space left on device")
        write_table(self, table, row_group_size=row_group_size)

    monkeypatch.setattr(pq.ParquetWriter, "write_table", fails)
    path = tmp_path / "full.parquet"
    sink = parquet.ParquetSink(ParquetSinkParams(), path, ["a"])

    def write() -> None:
        with contextlib.closing(sink):
            for start in range(0, 1000, 100):
                sink.write(pa.record_batch({"a": [f"v{n}" for n in range(start, start + 100)]}))

    with pytest.raises(OSError, match="No space left"):
        write()
    assert len(begun) == failing
    assert path.read_bytes() == b""
