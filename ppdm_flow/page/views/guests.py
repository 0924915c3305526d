"""What guests see: released tables page by page, their data sheets, reports and files."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import cast
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.responses import Response

from ppdm_flow.api.report import REPORT, rendered
from ppdm_flow.core.texts import SHEET_HTML
from ppdm_flow.page.http.call import Call
from ppdm_flow.page.http.headers import framed, kept
from ppdm_flow.page.http.route import READERS, reads
from ppdm_flow.page.services.journal import DOWNLOAD
from ppdm_flow.page.services.places import BusyError
from ppdm_flow.page.services.refusal import RefusalError
from ppdm_flow.page.services.released.files import ChangedFileError, GuestFile, ReleasedFolder
from ppdm_flow.page.services.released.sending import archive, checked, pieces
from ppdm_flow.page.services.runs.runs import REPORTS
from ppdm_flow.page.services.shown import Refusal, SharedRelease
from ppdm_flow.page.services.tables.shown_tables import shown_files, shown_table
from ppdm_flow.page.services.tables.table import (
    SUPPRESSED,
    BetweenFilter,
    BoundError,
    CellState,
    ColumnAbout,
    ColumnCondition,
    ColumnForm,
    ContainsFilter,
    CopiedTable,
    Equals,
    HasCode,
    RowFilter,
    StateFilter,
    TablePage,
)
from ppdm_flow.page.services.tables.tables import CopyProgress, ReleasedTable
from ppdm_flow.page.texts.catalogue import catalogue
from ppdm_flow.report.run.fields import ReportDocument
from ppdm_flow.report.run.public import of_release, public

_EACH = 50
_SECONDS = 3.0
"""How long the list waits for descriptions: those of long documents are read in processes of their own."""
_RELEASE = "/released/{policy}/{run}/{release}"


def releases(call: Call) -> Response:
    """List the releases that somebody may read: of one page, for each has documents that are read.

    Those for which there was no time are listed by their names; the next call goes on with them.
    """
    every: list[ShownRelease] = []
    changed: list[str] = []
    shown_now = call.site.shown.invited(call.user)
    pages = max(1, -(-len(shown_now) // _EACH))
    page = min(whole_number(call.query.get("page"), 10**9) or 1, pages)
    listed, until = shown_now[(page - 1) * _EACH : page * _EACH], time.monotonic() + _SECONDS
    while listed and (time.monotonic() < until or not (every or changed)):
        shown = listed.pop(0)
        try:
            every.append(described(shown))
        except ChangedFileError:
            changed.append(shown.release)
    undescribed = {address(shown): shown for shown in listed}
    return call.page(
        "guests/releases.html", releases=every, changed=changed, undescribed=undescribed, page=page, pages=pages
    )


# The page of a released table: some rows, what is asked of them, and what their cells mean.


def table_page(call: Call) -> Response:
    """Show some rows of a table; while its copy is made, say so."""
    release = shown_release(call)
    table = call.site.tables.get(release.table)
    if isinstance(table, CopyProgress):
        return _without_rows(call, release, table)
    question = read_question(call.query, table.about.columns, COLUMNS)
    try:
        with call.site.tables.reading():
            return _with_rows(call, release, table, question)
    except BusyError:
        raise RefusalError("guests.busy", 503) from None
    except FileNotFoundError:  # the copy has just been removed
        return _without_rows(call, release, CopyProgress.MAKING)


# The data sheet of a release, and the public report of its run where guests may read it: each in a frame.


def sheet(call: Call) -> Response:
    """Show the data sheet."""
    release = shown_release(call)
    return call.page("guests/document.html", release=release, tab="sheet", source=f"{release.address}/sheet.html")


def sheet_document(call: Call) -> Response:
    """Answer with the data sheet itself, for the frame."""
    release = shown_release(call)
    try:
        file = next((each for each in shown_files(release.folder) if each.name == SHEET_HTML), None)
        if file is None:
            raise HTTPException(404)
        if file.bytes > _DOCUMENTS_LONGEST:
            raise RefusalError("guests.long_sheet", 413)
        file.check()
        return framed(file.path.read_bytes())
    except (ChangedFileError, OSError):
        raise RefusalError("guests.changed") from None


def report(call: Call) -> Response:
    """Show the public report of the run. Raises HTTPException 404 where guests may not read it."""
    release = _with_report(call)
    return call.page("guests/document.html", release=release, tab="report", source=f"{release.address}/report.html")


def report_document(call: Call) -> Response:
    """Answer with the public report itself, for the frame."""
    folder = _with_report(call).folder
    try:
        return framed(_public_report(folder, folder.identity()))
    except ChangedFileError:
        raise RefusalError("guests.changed") from None


# The files of a release as they are, one by one or all in an archive; each download is in the journal.


def file_list(call: Call) -> Response:
    """List the files of a release, with their hashes."""
    release = shown_release(call)
    return call.page("guests/files.html", release=release, tab="files", files=_files(release))


def one_file(call: Call) -> Response:
    """Send a file. Raises HTTPException 404 where the release has none of this name."""
    release = shown_release(call)
    file = next((each for each in _files(release) if each.name == call.path["name"]), None)
    if file is None:
        raise HTTPException(404)
    _check([file])
    _note(call, release)
    return kept(pieces(file), file.name.rpartition("/")[2], file.bytes)


def archive_of_files(call: Call) -> Response:
    """Send all files in an archive: unpacked, it is the folder that ``ppdm-flow verify`` takes."""
    release = shown_release(call)
    files = _files(release)
    _check(files)
    _note(call, release)
    return kept(archive(files, release.shown.release), f"{release.shown.release}.zip")


ROUTES = (
    reads("/released", releases, READERS),
    reads(_RELEASE, table_page, READERS),
    reads(f"{_RELEASE}/sheet", sheet, READERS),
    reads(f"{_RELEASE}/sheet.html", sheet_document, READERS),
    reads(f"{_RELEASE}/report", report, READERS),
    reads(f"{_RELEASE}/report.html", report_document, READERS),
    reads(f"{_RELEASE}/files", file_list, READERS),
    reads(f"{_RELEASE}/files.zip", archive_of_files, READERS),
    reads(f"{_RELEASE}/files/{{name:path}}", one_file, READERS),
)


# The release that an address names, among those that who asks is invited to.


@dataclass(frozen=True, slots=True)
class ShownRelease:
    """A release that guests may read, with what its data dictionary says."""

    shown: SharedRelease
    table: ReleasedTable

    @property
    def address(self) -> str:
        """Where its table is; its other pages are below."""
        return address(self.shown)

    @property
    def folder(self) -> ReleasedFolder:
        """Its folder."""
        return self.table.folder


def address(shown: SharedRelease) -> str:
    """Return the address of a release that is shown."""
    return "/".join(("/released", *(quote(name, safe="") for name in (shown.policy, shown.run, shown.release))))


def shown_release(call: Call) -> ShownRelease:
    """Return the release of ``{policy}``, ``{run}`` and ``{release}``.

    Raises HTTPException 404 where who asks is not invited to such a release, RefusalError where they hold another one
    and are to see one, or its files were changed.
    """
    path = call.path
    shown = call.site.shown.opened(call.user, path["policy"], path["run"], path["release"])
    if shown is Refusal.APART:
        raise RefusalError("guests.apart", 403)
    if isinstance(shown, Refusal):
        raise HTTPException(404)
    try:
        return described(shown)
    except ChangedFileError:
        raise RefusalError("guests.changed") from None


def described(shown: SharedRelease) -> ShownRelease:
    """Return what is known of a release. Raises ChangedFileError where its documents are not those of the manifest."""
    return ShownRelease(shown, shown_table(shown))


# From the words of an address to a question about a table, and back.
#
# `cN` is what is asked of the column with the number N (a code for a column of choices, a text or `=` and a whole one
# for a column of texts), `cNfrom` and `cNto` are bounds, `cNis` is a state of cells; `by` is the column that rows are
# ordered by, and `down` from which end.


_LONGEST = 200
"""Characters of a text that is searched for."""


@dataclass(frozen=True, slots=True)
class GuestQuestion:
    """What an address asks for: the ``question``, the same in words of addresses, and the number of a page from 1 on.

    ``first`` is the number of the first column that is shown.
    """

    question: RowFilter
    words: Mapping[str, str]
    page: int
    first: int

    def of_column(self, number: int) -> dict[str, str]:
        """Return the words that are about one column."""
        names = (f"c{number}", f"c{number}from", f"c{number}to", f"c{number}is")
        return {name: self.words[name] for name in names if name in self.words}

    def without_column(self, number: int) -> dict[str, str]:
        """Return all words but those that ask something of this column."""
        mine = self.of_column(number)
        return {name: word for name, word in self.words.items() if name not in mine}

    def beyond(self, columns: Sequence[ColumnAbout]) -> dict[str, str]:
        """Return the words that ask nothing of these columns: what a form with fields for them has to keep."""
        mine = {name for about in columns for name in self.of_column(about.number)}
        return {name: word for name, word in self.words.items() if name not in mine}

    def ordered(self, number: int) -> dict[str, str]:
        """Return the words that order by this column; by the one that is ordered by, from its other end."""
        rest = {name: word for name, word in self.words.items() if name not in ("by", "down")}
        up = self.question.by == number and not self.question.descending
        return {**rest, "by": str(number), **({"down": "1"} if up else {})}


def read_question(query: Mapping[str, str], columns: Sequence[ColumnAbout], shown: int) -> GuestQuestion:
    """Read the words of an address; what does not fit the columns is left out. ``shown`` columns fit on a page."""
    words: dict[str, str] = {}
    conditions = [
        c for about in columns if about.form is not ColumnForm.CODED for c in _conditions(query, about, words)
    ]
    by = whole_number(query.get("by"), len(columns) - 1)
    if by is not None and columns[by].form is not ColumnForm.CODED:
        words["by"] = str(by)
        if query.get("down") == "1":
            words["down"] = "1"
    else:
        by = None
    first = (whole_number(query.get("first"), len(columns) - 1) or 0) // shown * shown
    if first:
        words["first"] = str(first)
    page = max(whole_number(query.get("page"), 10**9) or 1, 1)
    return GuestQuestion(RowFilter(tuple(conditions), by, descending="down" in words), words, page, first)


def _conditions(query: Mapping[str, str], about: ColumnAbout, words: dict[str, str]) -> Iterator[ColumnCondition]:
    number = about.number

    def word(name: str) -> str:
        text = query.get(f"c{number}{name}", "")[:_LONGEST]
        if text.strip():
            words[f"c{number}{name}"] = text
        return text if text.strip() else ""

    match about.form:
        case ColumnForm.CHOICE:
            code = whole_number(query.get(f"c{number}"), about.missing_code)
            if code is not None and about.has_code(code):
                words[f"c{number}"] = str(code)
                yield HasCode(number, code)
        case ColumnForm.TEXT:
            text = word("")
            if text:
                yield Equals(number, text[1:]) if text.startswith("=") else ContainsFilter(number, text)
        case ColumnForm.NUMBER:
            least, most = word("from"), word("to")
            if least or most:
                yield BetweenFilter(number, least, most)
    state = query.get(f"c{number}is", "")
    if about.form is not ColumnForm.CHOICE and state in frozenset(CellState):
        words[f"c{number}is"] = state
        yield StateFilter(number, CellState(state))


def whole_number(text: str | None, most: int) -> int | None:
    """Return a whole number from 0 to ``most``; None where the text is none."""
    if text is None or not (text.isascii() and text.isdigit()) or len(text) > len(str(most)):
        return None
    return int(text) if int(text) <= most else None


ROWS = 100
"""Rows of a page."""
COLUMNS = 40
"""Columns of a page."""
_NOTHING = TablePage(0, (), ())


def _without_rows(call: Call, release: ShownRelease, progress: CopyProgress) -> Response:
    return call.page("guests/progress.html", release=release, progress=progress, tab="table")


def _with_rows(call: Call, release: ShownRelease, table: CopiedTable, question: GuestQuestion) -> Response:
    every = table.about.columns
    columns = every[question.first : question.first + COLUMNS]
    asked_of = {condition.column for condition in question.question.conditions}
    choices = _choices(table, {*columns, *(every[number] for number in asked_of)})
    wrong, rows_page, page = None, _NOTHING, 1
    try:
        page, rows_page = _read_page(table, question)
    except BoundError as error:
        wrong = error.column
    return call.page(
        "guests/table.html",
        release=release,
        tab="table",
        asked=question,
        columns=columns,
        descriptions={column.name: column.description for column in release.table.columns},
        windows=[(first, min(first + COLUMNS, len(every))) for first in range(0, len(every), COLUMNS)],
        found=rows_page,
        rows=table.about.rows,
        page=page,
        pages=_pages(rows_page.total),
        fields=filter_fields(choices, question, columns, wrong),
        active=active_filters(table, choices, question),
        wrong=wrong,
        changes=list(dict.fromkeys(change for column in columns for change in column.changes)),
    )


def _read_page(table: CopiedTable, question: GuestQuestion) -> tuple[int, TablePage]:
    """Return the page that is asked for with its number; behind the end, the last one."""
    columns = table.about.columns[question.first : question.first + COLUMNS]
    rows_page = table.page(question.question, (question.page - 1) * ROWS, ROWS, columns)
    page = min(question.page, _pages(rows_page.total))
    if page != question.page:
        rows_page = table.page(question.question, (page - 1) * ROWS, ROWS, columns)
    return page, rows_page


def _pages(rows: int) -> int:
    return max(-(-rows // ROWS), 1)


# The fields by which a table is filtered, and the conditions that hold, in words.


Choices = Sequence[tuple[str, str]]
"""Codes and words to choose from."""
_FILTERS_LONGEST = 60
"""Characters of a value in a list to choose from."""


@dataclass(frozen=True, slots=True)
class FilterField:
    """The fields of one column: ``choices`` for a column of choices, ``states`` where some cells are no values.

    ``has`` is what is in the fields, by the end of their names. ``is_wrong``: a bound is no value of the column's type.
    """

    about: ColumnAbout
    choices: Choices
    states: Sequence[tuple[str, str]]
    has: dict[str, str]
    is_wrong: bool

    @property
    def name(self) -> str:
        """How the names of its fields begin."""
        return f"c{self.about.number}"


@dataclass(frozen=True, slots=True)
class ActiveFilter:
    """A condition in words, and the words of an address without it."""

    column: str
    text: str
    without: dict[str, str]


def filter_fields(
    choices: Mapping[int, Choices], question: GuestQuestion, columns: Sequence[ColumnAbout], wrong: int | None
) -> list[FilterField]:
    """Return the fields of the columns that are shown; a column of coded sets has none."""
    return [
        FilterField(
            about,
            choices.get(about.number, ()),
            _states(about) if about.form is not ColumnForm.CHOICE else (),
            {name.removeprefix(f"c{about.number}"): word for name, word in question.of_column(about.number).items()},
            is_wrong=about.number == wrong,
        )
        for about in columns
        if about.form is not ColumnForm.CODED
    ]


def active_filters(table: CopiedTable, choices: Mapping[int, Choices], question: GuestQuestion) -> list[ActiveFilter]:
    """Return what is asked of columns now, be they shown or not."""
    columns = {condition.column: table.about.columns[condition.column] for condition in question.question.conditions}
    return [
        ActiveFilter(about.name, text, question.without_column(number))
        for number, about in columns.items()
        for text in (_sentence(choices, about, question.of_column(number)),)
    ]


def _sentence(choices: Mapping[int, Choices], about: ColumnAbout, words: dict[str, str]) -> str:
    name, conditions = f"c{about.number}", list[str]()
    if about.form is ColumnForm.CHOICE:
        return dict(choices[about.number])[words[name]]
    text = catalogue()
    if name in words:
        word = words[name]
        conditions.append(
            text("guests.equals", text=word[1:]) if word[0] == "=" else text("guests.contains", text=word)
        )
    if f"{name}from" in words:
        conditions.append(text("guests.at_least", text=words[f"{name}from"]))
    if f"{name}to" in words:
        conditions.append(text("guests.at_most", text=words[f"{name}to"]))
    if f"{name}is" in words:
        conditions.append(text(f"guests.is_{words[f'{name}is']}"))
    return "; ".join(conditions)


def _choices(table: CopiedTable, columns: Collection[ColumnAbout]) -> dict[int, Choices]:
    """Return what there is to choose from, by the numbers of columns: codes, and values with their numbers of rows."""
    text, found = catalogue(), dict[int, Choices]()
    every = table.choices(columns, _FILTERS_LONGEST)
    for about in (each for each in columns if each.number in every):
        suppressed = f"{SUPPRESSED} {text('guests.is_suppressed')}", about.suppressed
        missing = text("guests.is_missing"), about.missing
        values = ((value or text("guests.empty_text"), rows) for value, rows in every[about.number])
        found[about.number] = [
            (str(code), text("guests.choice", text=value, rows=f"{rows:,}"))
            for code, (value, rows) in enumerate((*values, suppressed, missing))
            if rows
        ]
    return found


def _states(about: ColumnAbout) -> tuple[tuple[str, str], ...]:
    text = catalogue()
    there = {CellState.KNOWN: about.suppressed + about.missing, CellState.SUPPRESSED: about.suppressed}
    there[CellState.MISSING] = about.missing
    return tuple((str(state), text(f"guests.is_{state}")) for state, rows in there.items() if rows)


_DOCUMENTS_LONGEST = 16_000_000
"""Bytes of a data sheet that is shown: it is held in memory."""


def _with_report(call: Call) -> ShownRelease:
    release = shown_release(call)
    if not release.shown.report:
        raise HTTPException(404)
    return release


@lru_cache(maxsize=16)
def _public_report(folder: ReleasedFolder, _manifest: tuple[int, int, int]) -> str:
    return REPORTS.run(public_report, folder)


def public_report(folder: ReleasedFolder) -> str:
    """Return what the report of a run says of one release, in the form that may be shared."""
    document = cast("ReportDocument", folder.run_document(REPORT))
    return rendered(public(of_release(document, folder.release)), "html")


def _files(release: ShownRelease) -> list[GuestFile]:
    try:
        return shown_files(release.folder)
    except ChangedFileError:
        raise RefusalError("guests.changed") from None


def _check(files: Sequence[GuestFile]) -> None:
    try:
        checked(files)
    except ChangedFileError:
        raise RefusalError("guests.changed") from None


def _note(call: Call, release: ShownRelease) -> None:
    if call.request.method == "HEAD":  # nothing is sent
        return
    shown = release.shown
    subject = f"{shown.policy}/{shown.run}/{shown.release}"
    call.site.journal.add(call.user, DOWNLOAD, subject, "done")
