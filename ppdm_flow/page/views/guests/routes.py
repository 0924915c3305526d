"""The addresses of what guests read."""

from __future__ import annotations

import time

from starlette.responses import Response

from ppdm_flow.page.http.access import READERS
from ppdm_flow.page.http.call import Call
from ppdm_flow.page.http.route import reads
from ppdm_flow.page.services.released.files import ChangedFileError
from ppdm_flow.page.views.guests.asking import whole_number
from ppdm_flow.page.views.guests.documents import report, report_document, sheet, sheet_document
from ppdm_flow.page.views.guests.files import archive_of_files, file_list, one_file
from ppdm_flow.page.views.guests.shown_release import ShownRelease, address, described
from ppdm_flow.page.views.guests.table import table_page

_EACH = 50
_SECONDS = 3.0
"""How long the list waits for descriptions: those of long documents are read in processes of their own."""
_RELEASE = "/released/{policy}/{run}/{release}"


def releases(call: Call) -> Response:
    """List the releases that guests may read: of one page, for each has documents that are read.

    Those for which there was no time are listed by their names; the next call goes on with them.
    """
    every: list[ShownRelease] = []
    changed: list[str] = []
    shown_now = call.site.shown.releases()
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
