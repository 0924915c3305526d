"""The page of a released table: some rows, what is asked of them, and what their cells mean."""

from __future__ import annotations

from starlette.responses import Response

from ppdm_flow.page.http.call import Call
from ppdm_flow.page.services.places import BusyError
from ppdm_flow.page.services.refusal import RefusalError
from ppdm_flow.page.services.tables.column import BoundError
from ppdm_flow.page.services.tables.table import CopiedTable, TablePage
from ppdm_flow.page.services.tables.tables import CopyProgress
from ppdm_flow.page.views.guests.asking import GuestQuestion, asked
from ppdm_flow.page.views.guests.filters import active_filters, filter_fields
from ppdm_flow.page.views.guests.shown_release import ShownRelease, shown_release

ROWS = 100
"""Rows of a page."""
COLUMNS = 40
"""Columns of a page."""
_NOTHING = TablePage(0, (), ())


def table_page(call: Call) -> Response:
    """Show some rows of a table; while its copy is made, say so."""
    release = shown_release(call)
    table = call.site.tables.get(release.table)
    if isinstance(table, CopyProgress):
        return _without_rows(call, release, table)
    question = asked(call.query, table.about.columns, COLUMNS)
    try:
        with call.site.tables.reading():
            return _with_rows(call, release, table, question)
    except BusyError:
        raise RefusalError("guests.busy", 503) from None
    except FileNotFoundError:  # the copy has just been removed
        return _without_rows(call, release, CopyProgress.MAKING)


def _without_rows(call: Call, release: ShownRelease, progress: CopyProgress) -> Response:
    return call.page("guests/progress.html", release=release, progress=progress, tab="table")


def _with_rows(call: Call, release: ShownRelease, table: CopiedTable, question: GuestQuestion) -> Response:
    every = table.about.columns
    columns = every[question.first : question.first + COLUMNS]
    wrong, found, page = None, _NOTHING, 1
    try:
        page, found = _found(table, question)
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
        found=found,
        rows=table.about.rows,
        page=page,
        pages=_pages(found.total),
        fields=filter_fields(table, question, columns, wrong),
        active=active_filters(table, question),
        wrong=wrong,
        changes=list(dict.fromkeys(change for column in columns for change in column.changes)),
    )


def _found(table: CopiedTable, question: GuestQuestion) -> tuple[int, TablePage]:
    """Return the page that is asked for with its number; behind the end, the last one."""
    columns = table.about.columns[question.first : question.first + COLUMNS]
    found = table.page(question.question, (question.page - 1) * ROWS, ROWS, columns)
    page = min(question.page, _pages(found.total))
    if page != question.page:
        found = table.page(question.question, (page - 1) * ROWS, ROWS, columns)
    return page, found


def _pages(rows: int) -> int:
    return max(-(-rows // ROWS), 1)
