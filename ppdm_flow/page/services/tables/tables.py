"""All tables that guests read: copies are made one by one for a person, kept while shown, and read by a few at once."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Self

from ppdm_flow.core.digests import digest
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.core.texts import DICTIONARY
from ppdm_flow.page.services.bounded import MEGABYTE, BoundedCalls, LimitExceededError
from ppdm_flow.page.services.places import PERSON, WorkPlaces
from ppdm_flow.page.services.released.files import ChangedFileError, GuestFile, ReleasedFolder
from ppdm_flow.page.services.storage.disk import most_files
from ppdm_flow.page.services.tables.copying import CopyExitCode, CopyTask, copy_apart
from ppdm_flow.page.services.tables.table import ABOUT, VERSION, CopiedTable, CopyDatabase
from ppdm_flow.page.settings import Settings
from ppdm_flow.plan.definition import COLLAPSE

_MAKING = ".making-"
"""How the name of a copy's folder begins until it is whole."""
_FILES = 0.05
"""The share of the files that the disk may hold which copies may be: a column is several."""
_WORKERS = 2
"""Copies that are made at once, each for another person."""
_READING_MB = 3 * 1_024
"""Memory that rows may take while they are read, beyond what DuckDB may hold."""


class CopyProgress(StrEnum):
    """Why there is no copy of a table yet, or none at all."""

    MAKING = "making"
    CHANGED = "changed"
    """A released file is not the one that the run's manifest lists."""
    UNREADABLE = "unreadable"
    TOO_LARGE = "too_large"
    FAILED = "failed"


_PROGRESS = {
    CopyExitCode.CHANGED: CopyProgress.CHANGED,
    CopyExitCode.UNREADABLE: CopyProgress.UNREADABLE,
    CopyExitCode.TOO_LARGE: CopyProgress.TOO_LARGE,
}


class TableCopies:
    """Copies of released tables, by the keys of these. What begins to be asked for is made once.

    ``most_bytes`` of all copies: above that, those that were not opened for the longest time go first. A copy that
    would leave less than ``free_bytes`` of the disk is not made.
    """

    def __init__(
        self,
        folder: Path,
        *,
        most_rows: int,
        most_bytes: int,
        memory_mb: int,
        seconds: int,
        readers: int,
        free_bytes: int = 0,
        patience: float = 10.0,
    ) -> None:
        self._free_bytes = free_bytes
        self._folder, self._most_bytes, self._patience = folder, most_bytes, patience
        self._most_rows, self._memory_mb = most_rows, memory_mb
        memory, output = memory_mb + _READING_MB, most_bytes // MEGABYTE + 1
        self._calls = BoundedCalls(seconds=seconds, memory=memory, output=output, places=_WORKERS, each=_WORKERS)
        self._readers = WorkPlaces(readers, each=max(1, readers // 2))
        self._database = CopyDatabase()
        self._lock = threading.Lock()
        self._removing = threading.Lock()  # held for long; every guest's page waits for the other one
        self._progress: dict[str, CopyProgress] = {}
        self._open: dict[str, CopiedTable] = {}
        self._tasks: dict[str, tuple[str, CopyTask]] = {}
        self._making_for: set[str] = set()
        self._workers = 0
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for left in folder.glob(f"{_MAKING}*"):
            shutil.rmtree(left, ignore_errors=True)

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Return the tables of a server."""
        return cls(
            settings.tables,
            most_rows=settings.table_rows,
            most_bytes=settings.table_bytes,
            memory_mb=settings.table_memory_mb,
            seconds=settings.table_seconds,
            readers=settings.table_readers,
            free_bytes=settings.free_bytes,
        )

    def get(self, released: ReleasedTable) -> CopiedTable | CopyProgress:
        """Return the copy of a table; where there is none, have it made, or say why it cannot be."""
        key = released.key
        with self._lock:
            table = self._open.get(key)
            if table is not None:
                return table
            table = CopiedTable.opened(self._folder / key, self._database)
            if table is not None:
                self._open[key] = table
                os.utime(table.folder / ABOUT)
                return table
            if key not in self._progress:
                self._progress[key] = CopyProgress.MAKING
                self._tasks[key] = PERSON.get(), self._task(key, released)
                self._work()
            return self._progress[key]

    def reading(self) -> AbstractContextManager[None]:
        """Wait until one may read; one person has at most half of the places. Raises BusyError after ``patience``."""
        return self._readers.taken(self._patience)

    def keep(self, keys: Collection[str]) -> None:
        """Remove all copies but those of these keys: what is no longer shown leaves the server's folder too."""
        with self._removing:
            self._remove([place for place in self._copies() if place.name not in keys])
        with self._lock:
            for key in [key for key in self._progress if key not in keys]:
                if self._progress[key] is not CopyProgress.MAKING:
                    del self._progress[key]

    def finished(self, timeout: float, wait: Callable[[float], object] | None = None) -> bool:
        """Wait until nothing is being made any more, for tests and for those who prepare tables."""
        wait = wait or threading.Event().wait
        for _ in range(int(timeout / 0.05)):
            with self._lock:
                if CopyProgress.MAKING not in self._progress.values():
                    return True
            wait(0.05)
        return False

    def _task(self, key: str, released: ReleasedTable) -> CopyTask:
        place = released.folder.place
        return CopyTask(
            path=str((place / released.path).absolute()),
            format=released.format,
            options=released.options,
            files=tuple((str(file.path.absolute()), file.sha256 or "") for file in released.files),
            columns=tuple((c.name, c.type.value, c.changes, c.is_set) for c in released.columns),
            place=str((self._folder / f"{_MAKING}{key}").absolute()),
            most_rows=self._most_rows,
            memory_mb=self._memory_mb,
            free_bytes=self._free_bytes,
        )

    def _work(self) -> None:
        if self._workers < _WORKERS:
            self._workers += 1
            threading.Thread(target=self._make_all, name="tables", daemon=True).start()

    def _make_all(self) -> None:
        while True:
            with self._lock:
                key = self._next()
                if key is None:  # those that are left are for somebody for whom another thread works
                    self._workers -= 1
                    return
                person, task = self._tasks.pop(key)
                self._making_for.add(person)
            try:
                progress = self._copied(key, task)
                if progress is None:
                    self._make_room(key)
            except OSError:  # the disk
                progress = CopyProgress.FAILED
            with self._lock:
                self._making_for.discard(person)
                if progress is None:
                    del self._progress[key]
                else:
                    self._progress[key] = progress

    def _next(self) -> str | None:
        """Return the key of the first table for somebody for whom none is being made; None where there is none."""
        return next((key for key, (person, _) in self._tasks.items() if person not in self._making_for), None)

    def _copied(self, key: str, task: CopyTask) -> CopyProgress | None:
        """Make one copy; return why there is none, or nothing."""
        answer, place = self._made(task), Path(task.place)
        if answer != CopyExitCode.DONE:
            shutil.rmtree(place, ignore_errors=True)
            return _PROGRESS.get(answer, CopyProgress.FAILED)
        copy = self._folder / key
        with self._removing:
            self._remove([copy] if copy.exists() else [])  # one that was damaged
            place.rename(copy)
        return None

    def _made(self, task: CopyTask) -> CopyExitCode:
        shutil.rmtree(task.place, ignore_errors=True)
        try:
            return self._calls.run(copy_apart, task)
        except (LimitExceededError, RuntimeError):
            return CopyExitCode.FAILED
        except PpdmError:
            return CopyExitCode.UNREADABLE

    def _make_room(self, newest: str) -> None:
        with self._removing:
            copies = sorted(self._copies(), key=lambda place: (place / ABOUT).stat().st_mtime)
            files = [[file.stat().st_size for file in place.iterdir()] for place in copies]
            size, many, most = sum(map(sum, files)), sum(map(len, files)), most_files(self._folder, _FILES)
            gone = []
            for place, own in zip(copies, files, strict=True):
                if place.name != newest and (size > self._most_bytes or many > most):
                    gone.append(place)
                    size, many = size - sum(own), many - len(own)
            self._remove(gone)

    def _copies(self) -> list[Path]:
        return [place for place in self._folder.iterdir() if (place / ABOUT).is_file() and place.name[0] != "."]

    def _remove(self, places: Sequence[Path]) -> None:
        """Remove copies, of which nobody gets one any more before their files are gone."""
        gone = [place.with_name(f"{_MAKING}gone-{place.name}") for place in places]
        with self._lock:
            for place, away in zip(places, gone, strict=True):
                self._open.pop(place.name, None)
                place.rename(away)
        for place, away in zip(places, gone, strict=True):
            self._database.forget(place)
            shutil.rmtree(away, ignore_errors=True)


# A released table as its data dictionary describes it, before a copy of it is read.


_PLAN = "plan.json"


@dataclass(frozen=True, slots=True)
class DeclaredColumn:
    """A released column: its type in the file, and what steps did to it, in words of :class:`Change`, each once."""

    name: str
    type: AttributeType
    description: str
    changes: tuple[str, ...]
    is_set: bool


@dataclass(frozen=True, slots=True)
class ReleasedTable:
    """The table of a release: the place of its file in the release's folder, how it was written, its columns.

    ``files`` are the file, or the parts of a partitioned one, with their hashes. ``rows`` is None where the dictionary
    does not say it.
    """

    folder: ReleasedFolder
    path: str
    format: str
    options: Mapping[str, Any]
    description: str
    rows: int | None
    columns: tuple[DeclaredColumn, ...]
    files: tuple[GuestFile, ...]

    @classmethod
    def of(cls, folder: ReleasedFolder) -> Self:
        """Read what the run says of its release. Raises ChangedFileError where a document is not the listed one."""
        dictionary = folder.document(DICTIONARY)
        plan = folder.run_document(_PLAN)
        try:
            node = next(each for each in plan["releases"] if each["name"] == folder.release)
            path, counts = str(node["path"]), dictionary["options"].get(COLLAPSE)  # rows are shown, not records
            files = tuple(f for f in folder.files() if f.name == path or f.name.startswith(f"{path}/"))
            table = cls(
                folder,
                path,
                str(dictionary["format"]),
                dict(dictionary["options"]),
                str(dictionary["description"]),
                dictionary["rows"] if isinstance(dictionary["rows"], int) else None,
                tuple(_column(each) for each in dictionary["attributes"] if each["name"] != counts),
                files,
            )
        except (KeyError, StopIteration, TypeError, ValueError):
            raise ChangedFileError(DICTIONARY) from None
        if not files:
            raise ChangedFileError(path)
        return table

    @property
    def key(self) -> str:
        """What the name of its copy is made from: the hashes of its files, and all that decides how they are read."""
        return digest(
            {
                "version": VERSION,
                "files": [[file.name.removeprefix(self.path), file.sha256] for file in self.files],
                "format": [self.format, dict(self.options)],
                "columns": [[c.name, c.type.value, list(c.changes), c.is_set] for c in self.columns],
            }
        )

    @property
    def bytes(self) -> int:
        """The size of the released file."""
        return sum(file.bytes for file in self.files)


def _column(document: Mapping[str, Any]) -> DeclaredColumn:
    return DeclaredColumn(
        str(document["name"]),
        AttributeType(document["type"]),
        str(document.get("description", "")),
        tuple(dict.fromkeys(str(done["change"]) for done in document["done"])),
        document["role"] == Role.ITEMS,
    )
