"""Sinks for Excel, SPSS and Stata: what they write is read back as it was, and what they cannot hold is refused."""

from __future__ import annotations

import zipfile
from datetime import date, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.core.errors import DataError, PluginError, RunError
from ppdm_flow.core.roles import AttributeType
from ppdm_flow.sdk import registry
from ppdm_flow.sinks import statistical
from ppdm_flow.sinks.excel import algorithm as excel
from ppdm_flow.sources import statistical as statistical_source
from ppdm_flow.tables.numeric.column import parsed

openpyxl = pytest.importorskip("openpyxl")
pyreadstat = pytest.importorskip("pyreadstat")
pytest.importorskip("xlsxwriter")
pytest.importorskip("python_calamine")

ENDINGS = {"excel": "xlsx", "spss": "sav", "zsav": "zsav", "stata": "dta"}
EVERY = pytest.mark.parametrize("kind", list(ENDINGS))
FORMULAS = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "{=1}", '=HYPERLINK("http://x")']
NASTY = [*FORMULAS, '"', "a,b", "x\ny", "x\r\ny", " a", "⊥", "é", "NULL", "'", "007", "1e5", "true", "2024-01-01"]
NASTY += [
    "http://a.b",
    "mailto:a@b",
    "_x0041_",
    "_x000d_",
    "<&>",
    "日本",
    "\U0001f600",
    "x\x01y",
    "\x0b",
    "#N/A",
    "nan",
]


def moment(*parts):
    return datetime(*parts)  # noqa: DTZ001  # the formats have no zone


class Files:
    """Writes batches by a sink, and reads them by the source that has its name."""

    def __init__(self, folder):
        self.folder = folder
        self.count = 0

    def write(self, kind, batch, sizes=(1_000_000,), **options):
        self.count += 1
        path = self.folder / f"t{self.count}.{ENDINGS[kind]}"
        spec = registry.load("sinks", "spss" if kind == "zsav" else kind)
        sink = spec.load()(spec.params.model_validate(options), path, list(batch.schema.names))
        start = turn = 0
        try:
            while start < batch.num_rows:
                size = sizes[turn % len(sizes)]
                sink.write(batch.slice(start, size))
                start += size
                turn += 1
        finally:
            sink.close()
        return path

    def source(self, kind, path):
        spec = registry.load("sources", "spss" if kind == "zsav" else kind)
        return spec.load()(spec.params.model_validate({}), path)

    def cells(self, kind, path, types=None):
        """Every column as a list: of numbers and moments, where ``types`` says so, of texts otherwise."""
        source = self.source(kind, path)
        names = source.names()
        typed = getattr(source, "typed_batches", None)
        batches = list(source.batches(names) if typed is None else typed(names, types or {}))
        found = {}
        for name in names:
            found[name] = []
            for batch in batches:
                column = batch.column(name)
                if name in (types or {}):
                    read = parsed(column, types[name])
                    assert not read.bad.any()
                    values = read.values.tolist()
                    found[name] += [None if gone else value for value, gone in zip(values, read.missing, strict=True)]
                else:
                    found[name] += column.to_pylist()
        return found

    def refused(self, kind, batch, code="PPF677"):
        """The message of the error; the file that is left is no table."""
        with pytest.raises(DataError) as caught:
            self.write(kind, batch)
        (diagnostic,) = caught.value.diagnostics
        assert diagnostic.code == code
        assert diagnostic.help
        assert "zqcanary" not in f"{diagnostic}"
        left = self.folder / f"t{self.count}.{ENDINGS[kind]}"
        assert not left.exists() or left.stat().st_size == 0
        return diagnostic.message


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.setattr(
        statistical_source, "survives", lambda *_: True
    )  # no process for each of hundreds of sound files
    return Files(tmp_path)


def table(**columns):
    return pa.RecordBatch.from_pydict(columns)


def texts(*cells):
    return pa.array(cells, pa.string()).dictionary_encode()


TEXT = st.sampled_from(NASTY) | st.text(
    st.characters(exclude_characters="\0\ufffe\uffff", exclude_categories=("Cs",)), min_size=1, max_size=9
)
MILLIS = st.datetimes(moment(1900, 1, 1), moment(2600, 12, 31)).map(
    lambda x: x.replace(microsecond=x.microsecond // 1000 * 1000)
)
ROW = st.tuples(
    TEXT.filter(lambda text: not text.endswith(" ")),
    st.none() | TEXT.filter(lambda text: not text.endswith(" ")),
    st.none() | st.integers(-(1 << 53), 1 << 53),
    st.none()
    | st.floats(allow_nan=False, allow_infinity=False, min_value=-1e307, max_value=1e307).filter(
        lambda x: x == 0 or abs(x) > 1e-307
    ),
    st.none() | st.dates(date(1900, 1, 1)),
    st.none() | MILLIS,
)
KINDS = [pa.string(), pa.string(), pa.int64(), pa.float64(), pa.date32(), pa.timestamp("us")]
TYPES = {
    "i": AttributeType.INTEGER,
    "f": AttributeType.FLOAT,
    "d": AttributeType.DATE,
    "m": AttributeType.TIMESTAMP,
}


def batch_of(rows):
    columns = [pa.array([row[i] for row in rows], kind) for i, kind in enumerate(KINDS)]
    columns[:2] = [column.dictionary_encode() for column in columns[:2]]
    return pa.RecordBatch.from_arrays(columns, names=["s", "t", *TYPES])


@pytest.mark.slow(quick=1)
@EVERY
@examples(20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(ROW, min_size=1, max_size=10), sizes=st.lists(st.integers(1, 5), min_size=1, max_size=3))
def test_a_table_comes_back_and_batches_leave_no_trace(files, kind, rows, sizes):
    batch = batch_of(rows)
    path = files.write(kind, batch, sizes)
    cells = files.cells(kind, path, TYPES)
    assert cells["s"] == [row[0] for row in rows]
    assert cells["t"] == [row[1] for row in rows]
    for name, kind_ in TYPES.items():
        read = parsed(batch.column(name), kind_)
        expected = [None if gone else x for x, gone in zip(read.values.tolist(), read.missing, strict=True)]
        assert cells[name] == expected, name
    assert path.read_bytes() == files.write(kind, batch).read_bytes()


@EVERY
def test_numbers_keep_every_digit(files, kind):
    numbers = [0.1 + 0.2, 1 / 3, 1e-300, 123456789.123456789, 5.0, -0.1, 2.0**53 - 1]
    path = files.write(kind, table(f=pa.array(numbers), i=pa.array([2**53, -(2**53), 0, 1, -1, None, 12])))
    cells = files.cells(kind, path, {"f": AttributeType.FLOAT, "i": AttributeType.INTEGER})
    assert cells == {"f": numbers, "i": [2**53, -(2**53), 0, 1, -1, None, 12]}


@pytest.mark.slow
def test_the_same_rows_give_the_same_bytes_on_another_day(files, monkeypatch):
    batch = table(a=texts("x", None, "y"), n=pa.array([1.5, 1.0, None]))
    before = {kind: files.write(kind, batch).read_bytes() for kind in ENDINGS}
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    import time

    time.tzset()
    try:
        time.sleep(1.1)  # the times of some formats are whole seconds
        assert {kind: files.write(kind, batch).read_bytes() for kind in ENDINGS} == before
    finally:
        monkeypatch.undo()
        time.tzset()


@EVERY
def test_no_rows_make_a_file_with_names(files, kind):
    empty = table(a=texts("x"), b=pa.array([1])).slice(0, 0)
    path = files.write(kind, empty)
    assert files.source(kind, path).names() == ("a", "b")
    assert files.cells(kind, path) == {"a": [], "b": []}


@EVERY
def test_a_file_that_exists_is_never_overwritten(files, kind):
    path = files.write(kind, table(a=texts("x")))
    files.count -= 1
    with pytest.raises(FileExistsError):
        files.write(kind, table(a=texts("y")))
    assert files.cells(kind, path) == {"a": ["x"]}


@EVERY
def test_nothing_is_left_beside_the_file(files, kind, tmp_path):
    path = files.write(kind, table(a=texts(*NASTY)))
    assert list(tmp_path.iterdir()) == [path]


@EVERY
def test_values_that_no_row_has_are_nowhere_in_the_file(files, kind):
    coded = pa.DictionaryArray.from_arrays(pa.array([1, None, 1], pa.int32()), pa.array(["zqunused", "x", ""]))
    path = files.write(kind, table(a=coded, b=pa.array([1, 2, 3])))
    found = path.read_bytes()
    if kind == "excel":
        with zipfile.ZipFile(path) as book:
            found = b"".join(book.read(name) for name in book.namelist())
    if kind != "zsav":
        assert b"zqunused" not in found
        assert b"ppdm" not in found.lower()
    assert files.cells(kind, path)["a"] == ["x", None, "x"]
    assert list(files.source(kind, path).beside()) == []


@EVERY
def test_empty_texts_are_refused(files, kind):
    message = files.refused(kind, table(fine=texts("x", "y"), a=texts("zqcanary", "")))
    assert "`a`" in message


@EVERY
@pytest.mark.parametrize(
    ("column", "harmless"),
    [
        (pa.array([2**53 + 1, 0]), pa.array([2**53, 0])),
        (pa.array([-(2**53) - 1, 0]), pa.array([-(2**53), 0])),
        (pa.array([-(2**63), 0]), pa.array([-(2**53), 0])),
        (pa.array([1.7976931348623157e308, 0.0]), pa.array([1e307, 0.0])),
        (pa.array([date(1, 1, 1), None]), pa.array([date(1900, 1, 1), None])),
        (pa.array([moment(1, 1, 1)], pa.timestamp("us")), pa.array([moment(1900, 1, 1)], pa.timestamp("us"))),
        (texts("a\0b"), texts("a\x01b")),
        (pa.array([0], pa.timestamp("us", "UTC")), pa.array([0], pa.timestamp("us"))),
        (pa.array([["a"]]), texts("a")),
    ],
)
def test_what_no_such_file_holds(files, kind, column, harmless):
    fine = texts(*["x"] * len(column))
    assert "`zz`" in files.refused(kind, table(fine=fine, zz=column))
    files.write(kind, table(fine=fine, zz=harmless))


@pytest.mark.parametrize(
    ("kind", "column", "harmless"),
    [
        ("spss", texts("zqcanary "), texts(" zqcanary")),
        ("zsav", texts("zqcanary "), texts("zqcanary\t")),
        ("spss", texts("é" * 16_384), texts("é" * 16_383)),
        ("stata", texts("é" * 1_023), texts("é" * 1_022)),
        ("excel", texts("x" * 32_768), texts("x" * 32_767)),
        ("excel", texts("\U0001f600" * 16_384), texts("\U0001f600" * 16_383)),
        ("excel", texts("a\ufffeb"), texts("a\ufffdb")),
        ("excel", pa.array([date(1899, 12, 31)]), pa.array([date(1900, 1, 1)])),
        ("spss", pa.array([date(1582, 10, 14)]), pa.array([date(1582, 10, 15)])),
        ("stata", pa.array([date(99, 12, 31)]), pa.array([date(100, 1, 1)])),
        ("excel", pa.array([1_500], pa.timestamp("us")), pa.array([2_000], pa.timestamp("us"))),
        ("spss", pa.array([1_001], pa.timestamp("us")), pa.array([1_010], pa.timestamp("us"))),
        ("excel", pa.array([5e-324]), pa.array([3e-308])),
        ("stata", pa.array([8.99e307]), pa.array([8.98e307])),
    ],
)
def test_what_one_of_them_does_not_hold(files, kind, column, harmless):
    assert "`zz`" in files.refused(kind, table(zz=column))
    path = files.write(kind, table(zz=harmless))
    if pa.types.is_dictionary(harmless.type):
        assert files.cells(kind, path)["zz"] == harmless.to_pylist()


def test_stata_has_microseconds(files):
    at = moment(2024, 1, 1, 12, 30, 0, 123_457)
    path = files.write("stata", table(m=pa.array([at], pa.timestamp("us"))))
    assert files.cells("stata", path) == {"m": ["2024-01-01T12:30:00.123457"]}


@pytest.mark.parametrize("size", [254, 255, 256, 2_045, 32_767])
def test_long_texts(files, size):
    for kind in ("spss", "zsav", "stata"):
        if kind != "stata" or size <= 2_045:
            path = files.write(kind, table(a=texts("x" * size, None, "y"), b=texts("b", "c", "d")))
            assert files.cells(kind, path) == {"a": ["x" * size, None, "y"], "b": ["b", "c", "d"]}


@pytest.mark.parametrize(
    ("kind", "bad"),
    [
        ("spss", ["1a", "a b", "income (net)", "ALL", "with", "a" * 65, "é" * 33, "a.", "@a", "$a", "_a", "a-b"]),
        ("stata", ["1a", "a b", "a.b", "a" * 33, "int", "_n", "str5", "a-b", "$a"]),
    ],
)
def test_names_that_the_format_does_not_have(files, kind, bad):
    for name in bad:
        assert name in files.refused(kind, table(**{"fine": texts("x"), name: texts("y")}), "PPF677")


@pytest.mark.parametrize(
    ("kind", "good"),
    [
        ("spss", ["a", "Größe", "a.b", "a_b", "a$b", "a_", "a@", "a" * 64, "alla", "日本"]),
        ("stata", ["a", "_a", "größe", "a" * 32, "integer", "strange", "A", "日本"]),
        ("excel", ["a b", "=1+1", "1", "x" * 300, "A", "-", "日本", " "]),
    ],
)
def test_names_that_it_has(files, kind, good):
    path = files.write(kind, table(**{name: texts("x") for name in good}))
    assert files.source(kind, path).names() == tuple(good)
    assert files.cells(kind, path) == {name: ["x"] for name in good}


def test_spss_does_not_tell_capitals_apart(files):
    assert "`Age`" in files.refused("spss", table(age=texts("x"), Age=texts("y")), "PPF677")
    path = files.write("stata", table(age=texts("x"), Age=texts("y")))
    assert files.cells("stata", path) == {"age": ["x"], "Age": ["y"]}


def test_formulas_are_texts_in_a_workbook(files):
    path = files.write("excel", table(a=texts(*FORMULAS)))
    sheet = openpyxl.load_workbook(path)["data"]
    cells = [row[0] for row in sheet.iter_rows(min_row=2)]
    assert [cell.data_type for cell in cells] == ["s"] * len(FORMULAS)
    assert [cell.value for cell in cells] == [text.replace("\r", "_x000D_") for text in FORMULAS]  # as Excel has it
    assert all(cell.hyperlink is None for cell in cells)
    with zipfile.ZipFile(path) as book:
        sheet_xml = book.read("xl/worksheets/sheet1.xml")
        assert b"<f>" not in sheet_xml
        assert b"<hyperlink" not in sheet_xml


def test_a_workbook_has_types(files):
    at = moment(2024, 2, 29, 7, 30, 0, 5_000)
    batch = table(i=pa.array([41]), f=pa.array([0.5]), d=pa.array([at.date()]), m=pa.array([at], pa.timestamp("us")))
    sheet = openpyxl.load_workbook(files.write("excel", batch, sheet="Study 1"))["Study 1"]
    cells = [cell.value for cell in next(sheet.iter_rows(min_row=2))]
    assert cells == [41, 0.5, moment(2024, 2, 29), at]
    assert [type(cell) for cell in cells] == [int, float, datetime, datetime]


@pytest.mark.parametrize("name", ["", " ", "a/b", "[x]", "x" * 32, "'a", "a'", "History", "a\nb"])
def test_sheets_that_cannot_be(name):
    spec = registry.load("sinks", "excel")
    with pytest.raises(ValueError, match="sheet"):
        spec.params.model_validate({"sheet": name})


def test_a_sheet_has_so_many_rows_and_columns(files, monkeypatch):
    monkeypatch.setattr(excel, "ROWS", 5)
    monkeypatch.setattr(excel, "COLUMNS", 3)
    assert "rows" in files.refused("excel", table(a=pa.array(range(5))), "PPF677")
    assert files.cells("excel", files.write("excel", table(a=pa.array(range(4))))) == {"a": ["0", "1", "2", "3"]}
    wide = {name: texts("x") for name in "abcd"}
    assert "columns" in files.refused("excel", table(**wide), "PPF677")
    assert excel_limits() == (1_048_576, 16_384)


def excel_limits():
    import xlsxwriter

    sheet = xlsxwriter.Workbook().add_worksheet()
    return sheet.xls_rowmax, sheet.xls_colmax


def test_a_row_of_nothing_is_refused_in_a_sheet(files):
    nothing = table(a=texts("x", None), b=pa.array([1, None]))
    assert "row" in files.refused("excel", nothing, "PPF677")
    path = files.write("excel", table(a=texts("x", None), b=pa.array([1, 2])))
    assert files.cells("excel", path) == {"a": ["x", None], "b": ["1", "2"]}
    for kind in ("spss", "stata"):
        assert files.cells(kind, files.write(kind, nothing)) == {"a": ["x", None], "b": ["1", None]}


def test_a_file_says_nothing_of_who_made_it(files):
    _, about = pyreadstat.read_dta(str(files.write("stata", table(a=texts("x")))))
    assert str(about.creation_time).startswith("1970-01-01")
    _, about = pyreadstat.read_sav(str(files.write("spss", table(a=texts("x")))))
    assert about.creation_time.month == 1
    book = openpyxl.load_workbook(files.write("excel", table(a=texts("x"))))
    assert book.properties.created == moment(2000, 1, 1)
    assert not book.properties.creator


def test_formats_of_numbers_and_dates(files):
    batch = table(i=pa.array([1]), d=pa.array([date(2024, 1, 2)]), m=pa.array([moment(2024, 1, 2)], pa.timestamp("us")))
    frame, about = pyreadstat.read_sav(str(files.write("spss", batch)))
    assert about.original_variable_types == {"i": "F17.0", "d": "SDATE10", "m": "DATETIME23.3"}
    assert frame["d"][0] == date(2024, 1, 2)
    frame, about = pyreadstat.read_dta(str(files.write("stata", batch)))
    assert about.original_variable_types == {"i": "%17.0g", "d": "%td", "m": "%tc"}
    assert frame["d"][0] == date(2024, 1, 2)


def test_a_column_of_nothing_but_missing_texts(files):
    for kind in ("spss", "zsav", "stata"):
        path = files.write(kind, table(a=pa.array([None, None], pa.string()), b=texts("x", "y")))
        assert files.cells(kind, path) == {"a": [None, None], "b": ["x", "y"]}


@pytest.mark.parametrize(
    ("kind", "module", "name", "extra"),
    [
        ("excel", excel, "xlsxwriter", "excel"),
        ("spss", statistical, "pyreadstat", "statistics"),
        ("stata", statistical, "pyreadstat", "statistics"),
    ],
)
def test_without_the_extra_the_message_says_what_to_install(files, monkeypatch, kind, module, name, extra):
    monkeypatch.setattr(module, name, None)
    with pytest.raises(PluginError) as caught:
        files.write(kind, table(a=texts("x")))
    assert f"ppdm_flow[{extra}]" in str(caught.value.diagnostics[0].help)


@pytest.mark.slow
def test_many_rows(files):
    rows = 20_000
    batch = table(a=pa.array(np.arange(rows)), b=texts(*[f"text {i % 97}" for i in range(rows)]))
    for kind in ENDINGS:
        cells = files.cells(kind, files.write(kind, batch, (7_000,)))
        assert cells["a"] == [str(i) for i in range(rows)]
        assert cells["b"] == batch["b"].to_pylist()


def test_a_disk_that_is_full_is_no_defect(files, monkeypatch):
    import xlsxwriter

    def full(*_args, **_options):
        raise OSError(28, "No space left on device")

    made = []
    add = xlsxwriter.Workbook.add_worksheet
    monkeypatch.setattr(xlsxwriter.workbook, "ZipFile", full)
    monkeypatch.setattr(xlsxwriter.Workbook, "add_worksheet", lambda *given: made.append(add(*given)) or made[-1])
    with pytest.raises(OSError, match="workbook") as caught:
        files.write("excel", table(a=texts("x")))
    assert caught.value.errno == 28
    assert [p.name for p in files.folder.iterdir()] == ["t1.xlsx"]
    assert not files.folder.joinpath("t1.xlsx").read_bytes()
    made[0].row_data_fh.close()  # the library leaves it to the end of the process
    for name in ("write_sav", "write_dta"):

        def broken(*_args, **_options):
            raise pyreadstat.ReadstatError("Unable to write data")

        monkeypatch.setattr(pyreadstat, name, broken)
    for kind in ("spss", "stata"):
        with pytest.raises(RunError, match="PPF693"):
            files.write(kind, table(a=texts("x")))


def test_a_library_that_writes_another_header_is_seen(files, monkeypatch):
    monkeypatch.setattr(pyreadstat, "write_sav", lambda _frame, path, **_: Path(path).write_bytes(bytes(200)))
    with pytest.raises(RunError, match="PPF905"):
        files.write("spss", table(a=texts("x")))
