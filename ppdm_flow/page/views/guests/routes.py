"""The addresses of what guests read."""

from __future__ import annotations

from starlette.responses import Response

from ppdm_flow.page.http.access import READERS
from ppdm_flow.page.http.call import Call
from ppdm_flow.page.http.route import reads
from ppdm_flow.page.services.released.files import ChangedFileError
from ppdm_flow.page.views.guests.asking import whole_number
from ppdm_flow.page.views.guests.documents import report, report_document, sheet, sheet_document
from ppdm_flow.page.views.guests.files import archive_of_files, file_list, one_file
from ppdm_flow.page.views.guests.shown_release import ShownRelease, described
from ppdm_flow.page.views.guests.table import table_page

_EACH = 50
_RELEASE = "/released/{policy}/{run}/{release}"


def releases(call: Call) -> Response:
    """List the releases that guests may read: of one page, for each has documents that are read."""
    every: list[ShownRelease] = []
    changed: list[str] = []
    shown_now = call.site.shown.releases()
    pages = max(1, -(-len(shown_now) // _EACH))
    page = min(whole_number(call.query.get("page"), 10**9) or 1, pages)
    for shown in shown_now[(page - 1) * _EACH : page * _EACH]:
        try:
            every.append(described(shown))
        except ChangedFileError:
            changed.append(shown.release)
    return call.page("guests/releases.html", releases=every, changed=changed, page=page, pages=pages)


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
