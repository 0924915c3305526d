"""Pages of released tables: the same rows, in the same order, that reading the file and sorting a list gives."""

from __future__ import annotations

import random
import shutil
import threading
import time
from contextlib import ExitStack
from dataclasses import replace
from datetime import date
from operator import attrgetter
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pytest
from copies import opened, table, tables, task
from prepared_runs import prepared_run
from pyarrow import parquet
from signed_runs import BEGIN, small_run
from sites import PATIENCE

from ppdm_flow.core.digests import sha256
from ppdm_flow.page.services.places import PERSON, BusyError
from ppdm_flow.page.services.released.files import ChangedFileError, ReleasedFolder
from ppdm_flow.page.services.tables import table as table_module
from ppdm_flow.page.services.tables.copying import CopyExitCode, copy_table
from ppdm_flow.page.services.tables.table import (
    BetweenFilter,
    BoundError,
    CellState,
    ColumnForm,
    ContainsFilter,
    CopiedTable,
    CopyDatabase,
    Equals,
    RowFilter,
    StateFilter,
    bound,
)
from ppdm_flow.page.services.tables.tables import CopyProgress, ReleasedTable

COLUMNS = {"age": "text", "town": "text", "days": "integer", "cost": "float", "day": "date", "at": "timestamp"}
TOWNS = ("⊥", None, "Nord", "nordost", "süd", 'a "b", c', "<b>x</b>", "=1+1", "line\nbreak", "", "Straße")


def _rows(seed: int, many: int) -> list[list[str | None]]:
    draw = random.Random(seed)
    ages = ["[5, 18)", "[18, 40)", "[40, 100)", "[100, 120)", "⊥"]
    return [
        [
            draw.choice(ages),
            draw.choice(TOWNS),
            draw.choice([str(draw.randrange(-9, 99)), None, "⊥"]),
            draw.choice([repr(draw.randrange(9999) / 8), "1e3", "-0.5"]),
            draw.choice([f"2024-{draw.randrange(1, 13):02}-{draw.randrange(1, 29):02}", None]),
            f"2024-01-{draw.randrange(1, 29):02} {draw.randrange(24):02}:00:00",
        ]
        for _ in range(many)
    ]


def _holds(row: list[str | None], condition: object) -> bool:
    """Say whether a condition holds: the plain twin of what reads codes."""
    cell = row[condition.column]
    known = cell is not None and cell != "⊥"
    match condition:
        case ContainsFilter(_, text):
            return known and text.lower() in cell.lower()
        case Equals(_, text):
            return known and cell == text
        case StateFilter(_, state):
            return state == (CellState.KNOWN if known else CellState.MISSING if cell is None else CellState.SUPPRESSED)
        case BetweenFilter(2 | 3, least, most):
            return known and float(least or "-inf") <= float(cell) <= float(most or "inf")
        case BetweenFilter(5, least, most):
            return known and cell >= least and cell <= (f"{most}~" if most else "~")
        case BetweenFilter(_, least, most):
            return known and cell >= least and (not most or cell <= most)
    raise AssertionError(condition)


def _key(row: list[str | None], by: int) -> object:
    cell = row[by]
    if by in (2, 3):
        return float(cell), cell
    if by == 0:
        return int(cell[1:].partition(",")[0])
    return cell


def _expected(rows: list[list[str | None]], question: RowFilter) -> list[int]:
    numbers = [n for n, row in enumerate(rows) if all(_holds(row, each) for each in question.conditions)]
    if question.by is None:
        return numbers
    by = question.by
    known = [n for n in numbers if rows[n][by] not in (None, "⊥")]
    special = [n for n in numbers if rows[n][by] == "⊥"] + [n for n in numbers if rows[n][by] is None]
    known.sort(key=lambda n: (_key(rows[n], by), n))
    return (known[::-1] if question.descending else known) + special


QUESTIONS = [
    (),
    (ContainsFilter(1, "nord"),),
    (ContainsFilter(1, "<b>"),),
    (ContainsFilter(1, "."),),
    (ContainsFilter(1, 'b", '),),
    (Equals(1, "nord"),),
    (Equals(1, ""),),
    (Equals(1, "⊥"),),
    (StateFilter(1, CellState.SUPPRESSED),),
    (StateFilter(1, CellState.MISSING),),
    (StateFilter(1, CellState.KNOWN), ContainsFilter(1, "ü")),
    (BetweenFilter(2, "0", "50"),),
    (BetweenFilter(2, "-3.5", ""),),
    (BetweenFilter(2, "7", "3"),),
    (BetweenFilter(2, "-" + "9" * 30, "9" * 30),),
    (BetweenFilter(3, "-inf", "inf"),),
    (BetweenFilter(3, "", "1000"), StateFilter(2, CellState.KNOWN)),
    (BetweenFilter(4, "2024-03-01", "2024-06-30"),),
    (BetweenFilter(5, "2024-01-03", "2024-01-05"),),
    (ContainsFilter(1, "nowhere"),),
]


@pytest.fixture(scope="module")
def rows() -> list[list[str | None]]:
    return _rows(11, 700)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, rows: list[list[str | None]]) -> CopiedTable:
    return table(tmp_path_factory.mktemp("table"), COLUMNS, rows)


@pytest.mark.slow(quick=3)
@pytest.mark.parametrize("conditions", QUESTIONS, ids=repr)
def test_filters_orders_and_pages_give_the_rows_that_a_plain_list_gives(made: CopiedTable, rows, conditions):
    orders = [(None, False), *((by, down) for by in (0, 2, 3, 4) for down in (False, True))]
    for by, down in orders:
        question = RowFilter(conditions, by, descending=down)
        expected = _expected(rows, question)
        for first in (0, 37, 100, len(expected) - 3, len(expected), 5_000):
            page = made.page(question, max(first, 0), 100, made.about.columns)
            assert page.total == len(expected)
            assert list(page.numbers) == expected[max(first, 0) :][:100]
            shown = [[None if c.state == "missing" else c.text for c in row] for row in page.rows]
            assert shown == [rows[n] for n in page.numbers]


def test_columns_are_told_as_what_they_are(made: CopiedTable, rows):
    forms = [each.form for each in made.about.columns]
    assert forms == [
        ColumnForm.CHOICE,
        ColumnForm.CHOICE,
        ColumnForm.NUMBER,
        ColumnForm.NUMBER,
        ColumnForm.NUMBER,
        ColumnForm.NUMBER,
    ]
    town = made.about.columns[1]
    assert town.suppressed == sum(row[1] == "⊥" for row in rows)
    assert town.missing == sum(row[1] is None for row in rows)
    assert made.choices(made.about.columns[:1], 60)[0] == [
        (age, sum(row[0] == age for row in rows)) for age in ("[5, 18)", "[18, 40)", "[40, 100)", "[100, 120)")
    ]


@pytest.mark.parametrize(
    ("column", "text"), [(2, "many"), (3, "1,5"), (4, "yesterday"), (5, "2024-13-01"), (4, "1"), (3, "nan")]
)
def test_a_bound_that_is_no_value_of_the_column_is_refused(made: CopiedTable, column, text):
    for condition in (BetweenFilter(column, text, ""), BetweenFilter(column, "", text)):
        with pytest.raises(BoundError) as refused:
            made.page(RowFilter((condition,)), 0, 10, made.about.columns)
        assert refused.value.column == column


def test_bounds_of_floats_are_not_those_of_whole_numbers(tmp_path: Path):
    made = table(
        tmp_path, {"mass": "float", "id": "integer"}, [["1e18", "1"], ["1e19", "2"], ["3e19", "3"], ["-1e30", "4"]]
    )
    totals = [
        made.page(RowFilter((BetweenFilter(column, least, most),)), 0, 10, made.about.columns).total
        for column, least, most in ((0, "2e19", ""), (0, "", "2e19"), (0, "-1e31", "-2e19"), (1, "-1e30", "1e30"))
    ]
    assert totals == [1, 3, 1, 4]


def test_labels_in_a_column_of_numbers_make_it_a_column_of_texts(tmp_path: Path):
    made = table(tmp_path, {"age": "integer"}, [["31"], ["[30, 40)"], ["4"]])
    assert made.about.columns[0].form is ColumnForm.CHOICE
    page = made.page(RowFilter(by=0), 0, 10, made.about.columns)
    assert [row[0].text for row in page.rows] == ["4", "[30, 40)", "31"]


def test_many_values_are_searched_in_and_long_texts_are_cut(tmp_path: Path):
    rows = [[f"{n:05}", "ä" * 2_000 if n == 7 else "x"] for n in range(5_000)]
    made = table(tmp_path, {"id": "text", "note": "text"}, rows)
    assert [each.form for each in made.about.columns] == [ColumnForm.TEXT, ColumnForm.CHOICE]
    page = made.page(RowFilter((Equals(0, "00007"),)), 0, 10, made.about.columns)
    assert page.rows[0][1].text == "ä" * 1_200 + "…"
    assert made.page(RowFilter(by=0, descending=True), 4_990, 100, made.about.columns).numbers == tuple(
        range(9, -1, -1)
    )


def test_no_rows_are_no_pages(tmp_path: Path):
    made = table(tmp_path, {"id": "text"}, [])
    assert made.page(RowFilter((ContainsFilter(0, "a"),), by=0), 0, 100, made.about.columns).total == 0


@pytest.fixture
def released(tmp_path: Path) -> ReleasedTable:
    return ReleasedTable.of(ReleasedFolder(prepared_run(tmp_path / "runs"), "study"))


@pytest.mark.slow
@pytest.mark.usefixtures("new_pythons")
def test_a_released_table_is_copied_once_and_removed_when_it_is_no_longer_shown(tmp_path: Path, released):
    service = tables(tmp_path / "tables")
    assert service.get(released) is CopyProgress.MAKING
    assert service.finished(PATIENCE)
    made = service.get(released)
    assert isinstance(made, CopiedTable)
    assert [each.name for each in made.about.columns] == ["age", "town", "illness"]
    assert made.about.columns[0].changes == ("generalized",)
    assert (tmp_path / "tables").stat().st_mode & 0o077 == 0
    again = tables(tmp_path / "tables").get(released)
    assert isinstance(again, CopiedTable)
    assert again.about == made.about
    service.keep([released.key])
    assert isinstance(service.get(released), CopiedTable)
    service.keep([])
    assert list((tmp_path / "tables").iterdir()) == []


def test_what_the_manifest_does_not_list_is_neither_described_nor_copied(tmp_path: Path, released):
    file = released.folder.place / "study.csv"
    text = file.read_text()
    file.write_text(text.replace("flu", "flo"))
    service = tables(tmp_path / "tables")
    service.get(released)
    assert service.finished(PATIENCE)
    assert service.get(released) is CopyProgress.CHANGED
    file.write_text(text)
    for name in ("dictionary.json", "../../plan.json"):
        document = released.folder.place / name
        kept = document.read_text()
        document.write_text(kept.replace("age", "eag"))
        with pytest.raises(ChangedFileError):
            ReleasedTable.of(released.folder)
        document.write_text(kept)
    assert ReleasedTable.of(released.folder).key == released.key


def test_a_file_behind_a_link_is_none_of_the_release(tmp_path: Path, released):
    file = released.folder.place / "study.csv"
    shutil.copy(file, tmp_path / "elsewhere.csv")
    file.unlink()
    file.symlink_to(tmp_path / "elsewhere.csv")
    with pytest.raises(ChangedFileError):
        released.folder.file("study.csv").check()


@pytest.mark.slow
@pytest.mark.usefixtures("new_pythons")
def test_the_process_says_why_there_is_no_copy(tmp_path: Path):
    rows = [[str(n)] for n in range(20)]
    assert copy_table(task(tmp_path, {"id": "text"}, rows, most_rows=19)) is CopyExitCode.TOO_LARGE
    assert (
        copy_table(task(tmp_path, {"id": "text"}, rows, place=str(tmp_path / "b"), most_rows=20)) is CopyExitCode.DONE
    )
    assert (
        copy_table(task(tmp_path, {"id": "text"}, rows, files=((str(tmp_path / "table.csv"), "0" * 64),)))
        is CopyExitCode.CHANGED
    )
    service = tables(tmp_path / "tables")
    for kind, answer in (("parquet", CopyExitCode.UNREADABLE), ("no such format", CopyExitCode.UNREADABLE)):
        assert service._made(task(tmp_path, {"id": "text"}, rows, format=kind, place=str(tmp_path / kind))) is answer


@pytest.mark.slow
def test_copies_above_the_limit_go_those_first_that_were_opened_longest_ago(tmp_path: Path, released):
    service = tables(tmp_path / "tables", most_bytes=1)
    other = ReleasedTable.of(ReleasedFolder(prepared_run(tmp_path / "other", rows=80), "study"))
    for each in (released, other):
        service.get(each)
        assert service.finished(PATIENCE)
    assert [place.name for place in (tmp_path / "tables").iterdir()] == [other.key]


@pytest.mark.slow
def test_copies_of_too_many_files_go_and_nobody_waits_for_that(tmp_path: Path, released, monkeypatch):
    service = tables(tmp_path / "tables")
    other = ReleasedTable.of(ReleasedFolder(prepared_run(tmp_path / "other", rows=80), "study"))
    service.get(released)
    assert service.finished(PATIENCE)
    with service._removing:
        assert isinstance(service.get(released), CopiedTable)
    monkeypatch.setattr("ppdm_flow.page.services.tables.tables.most_files", lambda *_: 1)
    service.get(other)
    assert service.finished(PATIENCE)
    assert [place.name for place in (tmp_path / "tables").iterdir()] == [other.key]


def test_a_damaged_copy_is_made_again(tmp_path: Path, released):
    (tmp_path / "tables" / released.key).mkdir(parents=True)
    (tmp_path / "tables" / released.key / "about.json").write_text("{")
    service = tables(tmp_path / "tables")
    assert service.get(released) is CopyProgress.MAKING
    assert service.finished(PATIENCE)
    assert isinstance(service.get(released), CopiedTable)


def test_a_full_disk_is_told_and_the_next_table_is_made_all_the_same(tmp_path: Path, released, monkeypatch):
    service = tables(tmp_path / "tables")
    monkeypatch.setattr(service, "_copied", _full)
    service.get(released)
    assert service.finished(PATIENCE)
    assert service.get(released) is CopyProgress.FAILED
    monkeypatch.undo()
    other = ReleasedTable.of(ReleasedFolder(released.folder.run, "office"))
    service.get(other)
    assert service.finished(PATIENCE)
    assert isinstance(service.get(other), CopiedTable)


def test_tables_of_one_person_do_not_keep_another_waiting(tmp_path: Path, released, monkeypatch):
    service = tables(tmp_path / "tables")
    begun, go_on = [], threading.Event()

    def copied(key: str, _task: object) -> CopyProgress:
        begun.append(key)
        assert go_on.wait(PATIENCE)
        return CopyProgress.FAILED

    monkeypatch.setattr(service, "_copied", copied)
    monkeypatch.setattr(service, "_task", lambda *_words: None)
    asked = [("mallory", f"m{number}") for number in range(4)] + [("alice", "a0"), ("bob", "b0")]
    for person, key in asked:
        PERSON.set(person)
        service.get(SimpleNamespace(key=key))
    PERSON.set("")
    until = time.monotonic() + PATIENCE
    while len(begun) < 2 and time.monotonic() < until:
        time.sleep(0.01)
    assert begun == ["m0", "a0"]
    go_on.set()
    assert service.finished(PATIENCE)
    assert sorted(begun) == sorted(key for _, key in asked)


def _full(*_told: object) -> None:
    raise OSError(28, "No space left on device")


def test_a_copy_that_others_drove_out_is_busy_and_is_read_again(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(table_module, "_ATTACHED", 1)
    for name in "ab":
        (tmp_path / name).mkdir()
        table(tmp_path / name, {"town": "text"}, [["Ulm"]])
    database = CopyDatabase()
    one, other = (tmp_path / name / "copy" for name in "ab")

    def read(folder: Path, meanwhile: Path | None = None) -> int:
        with database.reading(folder) as connection:
            if meanwhile is not None:
                read(meanwhile)
            return connection.execute("SELECT count(*) FROM cells").fetchone()[0]

    with pytest.raises(BusyError):
        read(one, meanwhile=other)
    assert (read(one), read(other), read(other, meanwhile=other)) == (1, 1, 1)


def test_a_few_read_at_once_and_who_waits_too_long_is_told(tmp_path: Path):
    service = tables(tmp_path / "tables", readers=1, patience=0.01)
    with service.reading(), pytest.raises(BusyError), service.reading():
        pass
    with service.reading():
        pass


def test_one_person_does_not_take_the_places_of_all_readers(tmp_path: Path):
    service = tables(tmp_path / "tables", readers=4, patience=0.0)
    with ExitStack() as held:
        for person in ("mallory", "alice"):
            PERSON.set(person)
            for _ in range(2):
                held.enter_context(service.reading())
            with pytest.raises(BusyError), service.reading():
                pass
        PERSON.set("bob")
        with pytest.raises(BusyError), service.reading():
            pass
    with service.reading():
        pass
    PERSON.set("")


def test_what_a_killed_server_left_is_removed(tmp_path: Path):
    (tmp_path / "tables" / ".making-abc").mkdir(parents=True)
    tables(tmp_path / "tables")
    assert list((tmp_path / "tables").iterdir()) == []


def test_a_day_is_as_long_as_it_is():
    assert bound("date", "1970-01-02") == 1
    assert bound("timestamp", "1970-01-01", is_last=True) == 86_400_000_000 - 1
    assert bound("date", str(date(1969, 12, 31))) == -1


FORMATS = (
    "path: study.csv",
    "path: study.tsv",
    "path: study.csv, with: {formulas: escape, delimiter: ';'}",
    "path: study.parquet",
    "path: study.xlsx",
    "path: study.sav",
    "path: study.dta",
    "path: parts, format: parquet, partition_by: [town]",
)


@pytest.mark.slow
def test_every_format_gives_the_same_rows(tmp_path: Path):
    lines = [f"  r{number}: {{from: recoded, {words}}}\n" for number, words in enumerate(FORMATS)]
    run = small_run(tmp_path / "home", BEGIN + "".join(lines))
    service = tables(tmp_path / "tables")
    rows = []
    for number in range(len(FORMATS)):
        released = ReleasedTable.of(ReleasedFolder(run, f"r{number}"))
        service.get(released)
        assert service.finished(PATIENCE)
        made = service.get(released)
        assert isinstance(made, CopiedTable), (FORMATS[number], made)
        columns = sorted(made.about.columns, key=attrgetter("name"))
        page = made.page(RowFilter(), 0, 100, columns)
        rows.append(sorted(tuple(cell.text for cell in row) for row in page.rows))
    assert len(rows[0]) > 50
    assert all(each == rows[0] for each in rows)


def test_sets_are_shown_by_their_items(tmp_path: Path):
    rows = tmp_path / "rows.dat"
    rows.write_text("3 1 2\n7\n2 1\n")
    made = task(tmp_path, {"items": "text"}, [], path=str(rows), format="transactions", files=())
    assert copy_table(replace(made, columns=(("items", "text", (), True),))) is CopyExitCode.DONE
    copy = opened(tmp_path / "copy")
    page = copy.page(RowFilter((ContainsFilter(0, "2"),)), 0, 10, copy.about.columns)
    assert [row[0].text for row in page.rows] == ["1, 2, 3", "1, 2"]


@pytest.mark.slow
@pytest.mark.parametrize(("free_bytes", "answer"), [(2**62, CopyExitCode.FAILED), (1, CopyExitCode.DONE)])
@pytest.mark.usefixtures("new_pythons")
def test_a_copy_leaves_the_disk_its_room(tmp_path: Path, free_bytes: int, answer: CopyExitCode):
    service = tables(tmp_path / "tables")
    made = service._made(task(tmp_path, {"id": "text"}, [["1"]], place=str(tmp_path / "b"), free_bytes=free_bytes))
    assert made is answer


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "answer"), [(20_000, CopyExitCode.FAILED), (20, CopyExitCode.DONE)])
@pytest.mark.usefixtures("new_pythons")
def test_a_small_file_of_long_values_in_many_cells_takes_bounded_memory(tmp_path: Path, rows, answer):
    file, names = tmp_path / "table.parquet", ("a", "b", "c")
    cells = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int8()), pa.array(["x" * 90_000]))
    parquet.write_table(pa.table(dict.fromkeys(names, cells)), file)
    assert file.stat().st_size < 50_000
    words = {"path": str(file), "format": "parquet", "files": ((str(file), sha256(file)),), "most_rows": 100_000}
    made = task(tmp_path, dict.fromkeys(names, "text"), [], place=str(tmp_path / "b"), **words)
    service = tables(tmp_path / "tables")
    assert service._calls.memory <= 3.25 * 1_024
    assert service._made(made) is answer
