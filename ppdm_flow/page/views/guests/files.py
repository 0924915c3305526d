"""The files of a release as they are, one by one or all in an archive; each download is in the journal."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.exceptions import HTTPException
from starlette.responses import Response

from ppdm_flow.page.http.call import Call
from ppdm_flow.page.http.documents import kept
from ppdm_flow.page.services.journal.journal import DOWNLOAD
from ppdm_flow.page.services.refusal import RefusalError
from ppdm_flow.page.services.released.files import ChangedFileError, GuestFile
from ppdm_flow.page.services.released.sending import archive, checked, pieces
from ppdm_flow.page.services.tables.shown_tables import shown_files
from ppdm_flow.page.views.guests.shown_release import ShownRelease, shown_release


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
