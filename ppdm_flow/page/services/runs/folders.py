"""The folders of runs: found by listing what is there. There may be very many, and each page lists them."""

from __future__ import annotations

import os
from pathlib import Path


def names_in(parent: str | Path) -> list[str]:
    """Return the names of the folders in one, links left out; nothing where it cannot be read."""
    try:
        with os.scandir(parent) as entries:
            return [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []


def folders_in(parent: Path) -> list[Path]:
    """Return the folders in one, as `names_in` does."""
    return [parent / name for name in names_in(parent)]


def folder_named(parent: Path | None, name: str) -> Path | None:
    """Return the folder of this name among those that are there."""
    return parent / name if parent is not None and name in names_in(parent) else None
