"""Several files as one source: the same cells as one file, and errors that name the one at fault."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pcsv
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.core.errors import DataError
from ppdm_flow.core.roles import AttributeType
from ppdm_flow.engine.opening.many_files import ManyFiles
from ppdm_flow.engine.opening.opening import open_source
from ppdm_flow.plan.definition import SourceNode


def node(kind: str | None = None, columns: tuple[str, ...] | None = None, **options: object) -> SourceNode:
    return SourceNode(None, kind, options, columns, ("",), False, "drop", (), ())


def cells(path: Path, kind: str | None = None, names: list[str] | None = None) -> dict[str, list]:
    source = open_source(node(kind), path)
    columns = names or list(source.names())
    found: dict[str, list] = {name: [] for name in columns}
    for batch in source.batches(columns):
        assert batch.schema.names == columns
        for name in columns:
            found[name] += batch.column(name).to_pylist()
    return found


def fails(path: Path, kind: str | None = None) -> tuple[str, str]:
    with pytest.raises(DataError) as caught:
        cells(path, kind)
    (diagnostic,) = caught.value.diagnostics
    return diagnostic.code, diagnostic.message


def test_each_file_of_a_folder_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text('"x\n1",y\n"2\n3",4\n', encoding="utf-8-sig")
    assert cells(tmp_path) == {"x\n1": ["2\n3"] * 2, "y": ["4"] * 2}


def test_a_header_in_a_file_of_a_folder_that_should_have_none(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("1,2\n3,4\n")
    (tmp_path / "b.csv").write_text("x,y\n5,6\n")
    source = open_source(node("csv", ("x", "y")), tmp_path)
    with pytest.raises(DataError, match=r"b\.csv` is a header"):
        list(source.batches(source.names()))
    with pytest.raises(DataError, match=r"b\.csv` is a header"):
        [list(piece.starting_at(0).batches(source.names())) for piece in source.pieces(10)]
    (tmp_path / "b.csv").write_text("5,6\n")
    assert sum(batch.num_rows for batch in source.batches(source.names())) == 3


EARLIEST, LATEST = dt.datetime(1700, 1, 1), dt.datetime(2200, 1, 1)  # noqa: DTZ001  # hypothesis wants them so
ROWS = st.lists(
    st.tuples(
        st.none() | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=4),
        st.none() | st.integers(-(2**63), 2**63 - 1),
        st.none() | st.datetimes(EARLIEST, LATEST),
        st.none() | st.decimals(-999, 999, places=2),
        st.none() | st.dates(),
    ),
    min_size=1,
    max_size=12,
)
SCHEMA = pa.schema(
    {
        "text": pa.string(),
        "whole": pa.int64(),
        "moment": pa.timestamp("us", tz="UTC"),
        "price": pa.decimal128(10, 2),
        "day": pa.date32(),
    }
)


@examples(12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=ROWS, cuts=st.lists(st.integers(0, 12), max_size=3))
def test_parquet_in_parts_has_the_cells_of_one_file(tmp_path_factory, rows, cuts) -> None:
    folder = tmp_path_factory.mktemp("v")
    values = [[Decimal(v) if i == 3 and v is not None else v for v in c] for i, c in enumerate(zip(*rows, strict=True))]
    table = pa.table([pa.array(v, f.type) for v, f in zip(values, SCHEMA, strict=True)], schema=SCHEMA)
    pq.write_table(table, folder / "_whole.parquet")
    edges = sorted({0, *(min(c, len(rows)) for c in cuts), len(rows)})
    for number, (begin, end) in enumerate(pairwise(edges)):
        names = SCHEMA.names if number % 2 else SCHEMA.names[::-1]
        pq.write_table(table.slice(begin, end - begin).select(names), folder / f"{number:02}.parquet")
    whole = cells(folder / "_whole.parquet")
    assert cells(folder, names=SCHEMA.names) == {name: whole[name] for name in SCHEMA.names}


def write(path: Path, **columns: list) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    table = pa.table(columns)
    (pq if path.suffix == ".parquet" else pcsv).__dict__["write_table" if path.suffix == ".parquet" else "write_csv"](
        table, path
    )


def test_csv_in_parts_with_another_order_of_columns(tmp_path: Path) -> None:
    write(tmp_path / "b.csv", x=["3"], y=["c"])
    write(tmp_path / "a.csv", y=["a", "b"], x=["1", "2"])
    assert cells(tmp_path) == {"y": ["a", "b", "c"], "x": ["1", "2", "3"]}


def test_texts_are_texts_coded_or_not(tmp_path: Path) -> None:
    for number, kind in enumerate((pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string()))):
        pq.write_table(pa.table({"x": pa.array(["a", None], pa.string()).cast(kind)}), tmp_path / f"{number}.parquet")
    assert cells(tmp_path) == {"x": ["a", None] * 3}


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_partitions_are_columns(tmp_path: Path, ending: str) -> None:
    write(tmp_path / f"year=2023/town=A%20B/p.{ending}", age=["30", "40"])
    write(tmp_path / f"year=2024/town=__HIVE_DEFAULT_PARTITION__/p.{ending}", age=["50"])
    whole = {"age": ["30", "40", "50"], "year": ["2023", "2023", "2024"], "town": ["A B", "A B", None]}
    assert cells(tmp_path) == whole
    assert cells(tmp_path, names=["town", "age"]) == {"town": whole["town"], "age": whole["age"]}
    assert cells(tmp_path, names=["town"]) == {"town": whole["town"]}
    source = open_source(node(), tmp_path)
    assert isinstance(source, ManyFiles)
    batches = list(source.typed_batches(["year", "age"], {"year": AttributeType.INTEGER, "age": AttributeType.INTEGER}))
    assert [str(v) for b in batches for v in b.column("year").to_pylist()] == whole["year"]
    assert sum(batch.num_rows for batch in source.batches([])) == 3


def test_other_columns_are_named_with_the_file(tmp_path: Path) -> None:
    write(tmp_path / "a.csv", x=["1"], y=["a"], z=["b"])
    write(tmp_path / "b.csv", x=["1"], y=["a"], w=["b"])
    code, message = fails(tmp_path)
    assert code == "PPF462"
    assert f"`{tmp_path / 'b.csv'}`" in message
    assert "lacks `z` and also has `w`" in message


@pytest.mark.parametrize("headless", ["a.csv", "b.csv"])
def test_a_row_in_place_of_a_header_is_not_shown(tmp_path: Path, headless: str) -> None:
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("zqcanary,zq2\n1,2\n" if name == headless else "x,y\n1,2\n")
    code, message = fails(tmp_path)
    assert code == "PPF462"
    assert "zq" not in message.replace(str(tmp_path), "")


def test_another_type_is_named_with_the_file(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", x=[1])
    write(tmp_path / "b.parquet", x=["1"])
    code, message = fails(tmp_path)
    assert code == "PPF462"
    assert "column `x`" in message
    assert "it is string, and int64 there" in message


def test_a_column_with_the_name_of_a_partition(tmp_path: Path) -> None:
    write(tmp_path / "x=zqcanary/a.parquet", x=[1], y=[1])
    code, message = fails(tmp_path)
    assert code == "PPF463"
    assert "zqcanary" not in message


def test_several_formats(tmp_path: Path) -> None:
    write(tmp_path / "a.csv", x=["1"])
    for name, kind in (("b.parquet", None), ("b.tsv", None), ("b.dat", "csv"), ("README", None)):
        (tmp_path / name).write_text("x\n1\n")
        code, message = fails(tmp_path, kind)
        assert code == "PPF461"
        assert name in message
        assert "a.csv" in message
        (tmp_path / name).unlink()
    assert cells(tmp_path) == {"x": ["1"]}


def test_a_format_that_is_given(tmp_path: Path) -> None:
    (tmp_path / "part-1").write_text("x\n1\n")
    (tmp_path / "part-2").write_text("x\n2\n")
    assert fails(tmp_path)[0] == "PPF407"
    assert cells(tmp_path, "csv") == {"x": ["1", "2"]}


def test_formats_whose_rows_may_lie_in_several_files(tmp_path: Path) -> None:
    (tmp_path / "a.dat").write_text("1 2\n")
    assert fails(tmp_path, "jsonl")[0] == "PPF464"
    assert fails(tmp_path, "transactions")[0] == "PPF464"


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_broken_file_is_named_without_values(tmp_path: Path, ending: str) -> None:
    write(tmp_path / f"town=a/p.{ending}", x=["1"], y=["2"])
    broken = tmp_path / f"town=zqcanary/p.{ending}"
    broken.parent.mkdir()
    broken.write_bytes(b"x,y\n1,2\n1,2,3\n")
    code, message = fails(tmp_path)
    assert code == ("PPF703" if ending == "csv" else "PPF717")
    assert f"{tmp_path}/town=…/p.{ending} (file 2 of 2)" in message
    assert "zqcanary" not in message


def test_a_file_that_loses_a_column_after_the_names_were_read(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", x=[1], y=[1])
    write(tmp_path / "b.parquet", x=[1], y=[1])
    source = open_source(node(), tmp_path)
    source.names()
    write(tmp_path / "b.parquet", x=[1])
    with pytest.raises(DataError) as caught:
        list(source.batches(["y"]))
    assert [d.code for d in caught.value.diagnostics] == ["PPF462"]


def test_one_file_is_open_at_a_time(tmp_path: Path) -> None:
    fds = Path("/proc/self/fd")
    if not fds.is_dir():
        pytest.skip("needs /proc")
    for number in range(50):
        write(tmp_path / f"{number:02}.csv", x=["1"])
        write(tmp_path / "p" / f"{number:02}.parquet", x=["1"])
    for path in (tmp_path / "*.csv", tmp_path / "p"):
        source, most = open_source(node(), path), 0
        source.names()
        before = len(list(fds.iterdir()))
        for _ in source.batches(["x"]):
            most = max(most, len(list(fds.iterdir())) - before)
        assert most <= 3
        assert len(list(fds.iterdir())) <= before


def test_files_without_headers(tmp_path: Path) -> None:
    for town in "ab":
        (tmp_path / f"town={town}").mkdir()
        (tmp_path / f"town={town}" / "p.csv").write_text("1,2\n")
    source = open_source(node("csv", ("x", "y", "town")), tmp_path)
    assert source.names() == ("column_1", "column_2", "town")
