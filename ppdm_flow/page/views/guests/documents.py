"""The data sheet of a release, and the public report of its run where guests may read it: each in a frame."""

from __future__ import annotations

from functools import lru_cache
from typing import cast

from starlette.exceptions import HTTPException
from starlette.responses import Response

from ppdm_flow.api.report import REPORT, rendered
from ppdm_flow.core.texts.file_names import SHEET_HTML
from ppdm_flow.page.http.call import Call
from ppdm_flow.page.http.documents import framed
from ppdm_flow.page.services.refusal import RefusalError
from ppdm_flow.page.services.released.files import ChangedFileError, ReleasedFolder
from ppdm_flow.page.services.runs.runs import REPORTS
from ppdm_flow.page.services.tables.shown_tables import shown_files
from ppdm_flow.page.views.guests.shown_release import ShownRelease, shown_release
from ppdm_flow.report.run.fields import ReportDocument
from ppdm_flow.report.run.public import of_release, public

_LONGEST = 16_000_000
"""Bytes of a data sheet that is shown: it is held in memory."""


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
        if file.bytes > _LONGEST:
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


def _with_report(call: Call) -> ShownRelease:
    release = shown_release(call)
    if not release.shown.report:
        raise HTTPException(404)
    return release


@lru_cache(maxsize=16)
def _public_report(folder: ReleasedFolder, _manifest: tuple[int, int, int]) -> str:
    return REPORTS.run(public_report, folder)


def public_report(folder: ReleasedFolder) -> str:
    """Return what the report of a run says of one release, in the form that may leave the house."""
    document = cast("ReportDocument", folder.run_document(REPORT))
    return rendered(public(of_release(document, folder.release)), "html")
