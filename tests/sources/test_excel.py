"""The reader of workbooks."""

from __future__ import annotations

import datetime as dt

import pytest

from ppdm_flow.core.errors import DataError, PluginError
from ppdm_flow.sources.excel import algorithm

openpyxl = pytest.importorskip("openpyxl")


@pytest.fixture
def book(tmp_path):
    book = openpyxl.Workbook()
    first = book.active
    first.title = "people"
    first.append(["name", "age", "joined", "share", "ok"])
    first.append(["Ann", 41, dt.date(2024, 2, 29), 0.5, True])
    first.append(["007", 2.0, dt.datetime(2024, 1, 1, 12, 30), None, False])  # noqa: DTZ001  # the formats have no zone
    second = book.create_sheet("other")
    second.append(["made by hand"])
    second.append(["x"])
    second.append(["zqcanary"])
    path = tmp_path / "book.xlsx"
    book.save(path)
    return path


def test_the_first_sheet_as_texts(reader, book):
    assert reader.table("excel", book) == {
        "name": ["Ann", "007"],
        "age": ["41", "2"],
        "joined": ["2024-02-29", "2024-01-01T12:30:00"],
        "share": ["0.5", None],
        "ok": ["true", "false"],
    }


@pytest.mark.parametrize("sheet", ["other", "2"])
def test_a_sheet_by_name_or_number(reader, book, sheet):
    assert reader.table("excel", book, sheet=sheet, skip_rows="1") == {"x": ["zqcanary"]}
    assert reader.table("excel", book, sheet=sheet, skip_rows="2", header="false") == {"column_1": ["zqcanary"]}


@pytest.mark.parametrize("names", [["name", "age", "joined", "share", "ok"], ["AGE", "name ", "ok", "share", "joined"]])
def test_a_header_of_a_sheet_that_should_have_none(reader, book, names):
    source = reader.open("excel", book, header=False)
    source.name_columns(names)
    with pytest.raises(DataError, match="PPF488: row 1 of"):
        list(source.batches(["column_1"]))
    for given, skipped in ((["x", *names[1:]], 0), (names, 1)):
        source = reader.open("excel", book, header=False, skip_rows=skipped)
        source.name_columns(given)
        assert sum(batch.num_rows for batch in source.batches(["column_1"])) == 3 - skipped


def test_a_cell_far_from_the_table(reader, tmp_path):
    """Five kilobytes took four gigabytes, or ended the process."""
    for row, fails in ((4_000, False), (1_000_000, True)):
        book = openpyxl.Workbook()
        book.active.append(["name", *"abcdefghijk"])
        book.active.append(["zqcanary"])
        book.active.cell(row, 12, "far")
        book.save(tmp_path / "far.xlsx")
        if fails:
            assert "column 12 of row 1,000,000" in reader.fails("excel", tmp_path / "far.xlsx", "PPF717")
        else:
            assert len(reader.table("excel", tmp_path / "far.xlsx")["name"]) == row - 1


def test_a_sheet_that_is_not_there(reader, book):
    assert "no sheet" in reader.fails("excel", book, "PPF722", sheet="peple")
    assert "no sheet" in reader.fails("excel", book, "PPF722", sheet="3")


def test_files_that_are_no_workbooks(reader, tmp_path):
    assert "workbook" in reader.fails("excel", reader.path("t.xlsx", b"zqcanary"), "PPF717")
    assert "no such file" in reader.fails("excel", tmp_path / "none.xlsx", "PPF701")


def test_without_the_extra_the_message_says_what_to_install(reader, book, monkeypatch):
    monkeypatch.setattr(algorithm, "calamine", None)
    with pytest.raises(PluginError) as caught:
        reader.open("excel", book)
    assert caught.value.exit_status == 2
    assert "ppdm_flow[excel]" in str(caught.value.diagnostics[0].help)
