"""The release that an address names, among those that are shown to guests."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

from starlette.exceptions import HTTPException

from ppdm_flow.page.http.call import Call
from ppdm_flow.page.services.refusal import RefusalError
from ppdm_flow.page.services.released.files import ChangedFileError, ReleasedFolder
from ppdm_flow.page.services.shown.shown import SharedRelease
from ppdm_flow.page.services.tables.released_table import ReleasedTable
from ppdm_flow.page.services.tables.shown_tables import shown_table


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

    Raises HTTPException 404 where guests may not read such a release, RefusalError where its files were changed.
    """
    path = call.path
    shown = call.site.shown.get(path["policy"], path["run"], path["release"])
    if shown is None:
        raise HTTPException(404)
    try:
        return described(shown)
    except ChangedFileError:
        raise RefusalError("guests.changed") from None


def described(shown: SharedRelease) -> ShownRelease:
    """Return what is known of a release. Raises ChangedFileError where its documents are not those of the manifest."""
    return ShownRelease(shown, shown_table(shown))
