"""Tables of releases that are shown to guests: described, copied when they are shown, removed when they are not."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from ppdm_flow.engine.manifest import NAME as MANIFEST
from ppdm_flow.page.services.bounded import CHECKS, LimitExceededError
from ppdm_flow.page.services.released.files import ChangedFileError, ReleasedFolder
from ppdm_flow.page.services.shown.shown import Shown
from ppdm_flow.page.services.tables.released_table import ReleasedTable
from ppdm_flow.page.services.tables.tables import Tables


def shown_table(shown: Shown) -> ReleasedTable:
    """Return the table of a release. Raises ChangedFileError where its documents are not those of the manifest."""
    folder = ReleasedFolder(shown.folder, shown.release)
    return _described(folder, folder.identity())


def copy_shown(tables: Tables, shown: Shown) -> None:
    """Begin to copy a table that is shown from now on, so that the first guest need not wait."""
    try:
        tables.get(shown_table(shown))
    except ChangedFileError:  # guests are told so
        return


def keep_shown(tables: Tables, every: Iterable[Shown]) -> None:
    """Remove the copies of all tables but those that are shown."""
    keys = set()
    for shown in every:
        try:
            keys.add(shown_table(shown).key)
        except ChangedFileError:
            continue
    tables.keep(keys)


@lru_cache(maxsize=1_024)
def _described(folder: ReleasedFolder, _manifest: tuple[int, int, int]) -> ReleasedTable:
    """Describe a table, in a process of its own: parsing a long document lets no other thread work meanwhile."""
    try:
        return CHECKS.run(ReleasedTable.of, folder)
    except LimitExceededError:
        raise ChangedFileError(MANIFEST) from None
