"""What of the server's state a job may open: what its own words name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

_READ_ONLY = frozenset({"uploads"})
_DEPTH = 2
"""Folders of one person or one job are ``ROOM/NAME``, where a name cannot be guessed."""


class OwnFiles(TypedDict):
    """Folders below the state that a job reads, or reads and writes."""

    reads: Sequence[Path]
    writes: Sequence[Path]


def own_files(state: Path, words: Sequence[str]) -> OwnFiles:
    """Return the folders, ``ROOM/NAME`` below the state, in which files are that whole words of a job name."""
    reads: list[Path] = []
    writes: list[Path] = []
    for word in words:
        path = Path(word)
        parts = path.relative_to(state).parts if path.is_relative_to(state) else ()
        if len(parts) >= _DEPTH and ".." not in parts:
            (reads if parts[0] in _READ_ONLY else writes).append(state.joinpath(*parts[:_DEPTH]))
    return {"reads": reads, "writes": writes}
