"""Sources in pieces: the same rows as in one, wherever they are cut, and messages that count the rows of the file."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.core.errors import DataError
from ppdm_flow.sources.csv.algorithm import CsvSource
from ppdm_flow.sources.csv.spec import CsvSourceParams
from ppdm_flow.sources.parquet.algorithm import ParquetSource
from ppdm_flow.sources.parquet.spec import ParquetSourceParams

MARK = "\N{ZERO WIDTH NO-BREAK SPACE}"
CELLS = st.text(alphabet='ab",\n\r é' + MARK, max_size=12)


def rows_of(source, columns) -> list[tuple]:
    return [
        tuple(row.values()) for batch in source.batches(columns) for row in pa.Table.from_batches([batch]).to_pylist()
    ]


def in_pieces(source, size, columns) -> tuple[list[tuple], int]:
    rows: list[tuple] = []
    pieces = source.pieces(size)
    for piece in pieces:
        rows += rows_of(piece.starting_at(len(rows)), columns)
    return rows, len(pieces)


@examples(45)
@given(
    st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=40),
    st.sampled_from(["\n", "\r\n"]),
    st.integers(1, 4),
    st.booleans(),
    st.booleans(),
)
def test_a_csv_file_has_the_same_rows_in_pieces(tmp_path_factory, cells, ends, size, quoted, marked) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator=ends, quoting=csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL)
    cells = cells if quoted else [(a.replace("\r", ""), b.replace("\r", "")) for a, b in cells]
    writer.writerows([("x", "y"), *cells])
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    path.write_bytes((MARK * marked + text.getvalue()).encode())
    source = CsvSource(CsvSourceParams(), path)
    assert in_pieces(source, size, ["x", "y"])[0] == rows_of(source, ["x", "y"])


def test_a_long_file_is_cut_between_rows_and_not_inside_of_quotes(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    lines = [f'{i},"two\nlines, and a ""quote"" {i}"' if i % 3 else f"{i},plain" for i in range(5000)]
    path.write_text("n,text\n" + "\n".join(lines) + "\n")
    source = CsvSource(CsvSourceParams(), path)
    rows, pieces = in_pieces(source, 100, ["n", "text"])
    assert pieces > 15
    assert rows == rows_of(source, ["n", "text"])
    assert [row[0] for row in rows] == [str(i) for i in range(5000)]


def test_a_byte_order_mark_at_the_start_of_a_piece_is_a_letter(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("v,n\n" + "".join(f"{MARK}a,{i}\n" for i in range(3000)), encoding="utf-8")
    rows, pieces = in_pieces(CsvSource(CsvSourceParams(), path), 100, ["v", "n"])
    assert pieces > 3
    assert {value for value, _ in rows} == {f"{MARK}a"}


def test_a_quote_behind_the_byte_order_mark_of_a_file_opens(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f'{MARK}"a\nb{"c" * 200}\nd",1\ne,2\n', encoding="utf-8")
    source = CsvSource(CsvSourceParams(header=False), path)
    rows, _ = in_pieces(source, 1, source.names())
    assert rows == rows_of(source, source.names())
    assert [row[1] for row in rows] == ["1", "2"]


@pytest.mark.parametrize(
    ("text", "params"),
    [
        ('n,text\n1,"a\\"\n2,"c"\n', {}),
        ("n,text\n1,ä\n2,b\n", {"encoding": "utf-16"}),
        ("n,text\r1,a\r2,b\r", {}),
    ],
)
def test_a_file_that_cannot_be_cut_safely_stays_whole(tmp_path: Path, text: str, params: dict) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(text.encode(params.get("encoding", "utf-8")))
    pieces = CsvSource(CsvSourceParams(**params), path).pieces(1)
    assert len(pieces) == 1
    assert pieces[0].begins


def test_what_is_wrong_in_a_piece_is_told_with_the_row_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    lines = [f"{i},some text that fills the line" for i in range(1000)]
    path.write_text("n,text\n" + "\n".join(lines) + "\n1000,two,cells too many\n")
    with pytest.raises(DataError, match=r"row 1001 has 3 cells"):
        in_pieces(CsvSource(CsvSourceParams(), path), 50, ["n"])


def test_row_groups_are_the_pieces_of_a_parquet_file(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"n": [str(i) for i in range(1000)]}), path, row_group_size=64)
    source = ParquetSource(ParquetSourceParams(), path)
    rows, pieces = in_pieces(source, 200, ["n"])
    assert rows == rows_of(source, ["n"])
    assert pieces == 6  # three groups of 64 rows each, 16 groups
    assert [p.rows for p in source.pieces(200)] == [192] * 5 + [40]
