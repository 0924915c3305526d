"""What the process that makes a copy is told, and what it answers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import IntEnum
from typing import Any, Self


class CopyExitCode(IntEnum):
    """The exit codes of the process."""

    DONE = 0
    FAILED = 3
    CHANGED = 64
    """A file is not the one that the run's manifest lists."""
    UNREADABLE = 65
    """The file cannot be read, or its reader is not installed here."""
    TOO_LARGE = 66
    """The table has more rows than the server shows."""


@dataclass(frozen=True, slots=True)
class CopyTask:
    """A copy to make: ``files`` are paths with their hashes, ``path`` is what is read, ``place`` the new folder.

    ``columns`` are names, types, changes, and whether the column holds sets.
    """

    path: str
    format: str
    options: Mapping[str, Any]
    files: tuple[tuple[str, str], ...]
    columns: tuple[tuple[str, str, tuple[str, ...], bool], ...]
    place: str
    most_rows: int
    memory_mb: int
    free_bytes: int = 0

    def text(self) -> str:
        """Return this as JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def read(cls, text: str) -> Self:
        """Return what a text says."""
        document = json.loads(text)
        files = tuple((path, sha256) for path, sha256 in document["files"])
        columns = tuple((name, kind, tuple(changes), sets) for name, kind, changes, sets in document["columns"])
        return cls(**{**document, "files": files, "columns": columns})
