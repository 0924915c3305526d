"""Tables of releases that are shown to guests: described, copied when they are shown, removed when they are not."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from ppdm_flow.core.texts import DICTIONARY
from ppdm_flow.engine.approval.published import PLAN
from ppdm_flow.engine.manifest import NAME as MANIFEST
from ppdm_flow.page.services.bounded import CHECKS, LARGE, LimitExceededError
from ppdm_flow.page.services.released.files import ChangedFileError, GuestFile, ReleasedFolder
from ppdm_flow.page.services.shown import SharedRelease
from ppdm_flow.page.services.tables.tables import ReleasedTable, TableCopies

T = TypeVar("T")
_SECONDS = 5.0
_AGAIN = 600.0
"""Seconds until documents that took too long are tried again: the machine may have been busy."""
_later: dict[tuple[ReleasedFolder, tuple[int, int, int]], float] = {}
"""Until when documents that took too long are not tried again: every guest begins with a list of releases."""


def shown_table(shown: SharedRelease) -> ReleasedTable:
    """Return the table of a release. Raises ChangedFileError where its documents are not those of the manifest."""
    folder = ReleasedFolder(shown.folder, shown.release)
    return _table(folder, folder.identity())


def shown_files(folder: ReleasedFolder) -> list[GuestFile]:
    """Return the files of a release that is shown. Raises ChangedFileError where the manifest does not list them."""
    try:
        return _read(ReleasedFolder.files, folder, (folder.run / MANIFEST,))
    except LimitExceededError:
        raise ChangedFileError(MANIFEST) from None


def copy_shown(tables: TableCopies, shown: SharedRelease) -> None:
    """Begin to copy a table that is shown from now on, so that the first guest need not wait."""
    try:
        tables.get(shown_table(shown))
    except ChangedFileError:  # guests are told so
        return


def keep_shown(tables: TableCopies, every: Iterable[SharedRelease]) -> None:
    """Remove the copies of all tables but those that are shown.

    Where it takes long to find out which these are, nothing is removed: the next call goes on.
    """
    keys, until = set(), time.monotonic() + _SECONDS
    for shown in every:
        if time.monotonic() > until:
            return
        folder = ReleasedFolder(shown.folder, shown.release)
        try:
            keys.add(_key(folder, folder.identity()))
        except ChangedFileError:
            continue
    tables.keep(keys)


@lru_cache(maxsize=16_384)
def _key(folder: ReleasedFolder, manifest: tuple[int, int, int]) -> str:
    return _table(folder, manifest).key


def _table(folder: ReleasedFolder, manifest: tuple[int, int, int]) -> ReleasedTable:
    if _later.get((folder, manifest), 0.0) > time.monotonic():
        raise ChangedFileError(MANIFEST)
    try:
        return _described(folder, manifest)
    except LimitExceededError:
        _later[folder, manifest] = time.monotonic() + _AGAIN
        raise ChangedFileError(MANIFEST) from None


@lru_cache(maxsize=128)
def _described(folder: ReleasedFolder, _manifest: tuple[int, int, int]) -> ReleasedTable:
    documents = (folder.run / MANIFEST, folder.run / PLAN, folder.place / DICTIONARY)
    return _read(ReleasedTable.of, folder, documents)


def _read(function: Callable[[ReleasedFolder], T], folder: ReleasedFolder, documents: Iterable[Path]) -> T:
    """Return what a function reads of documents; of long ones in a process of its own. Raises LimitExceededError."""
    try:
        is_long = sum(path.stat().st_size for path in documents) > LARGE
        return CHECKS.run(function, folder) if is_long else function(folder)
    except OSError:
        raise ChangedFileError(MANIFEST) from None
