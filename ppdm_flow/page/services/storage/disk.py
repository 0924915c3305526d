"""How much room a disk has left."""

from __future__ import annotations

import os
from pathlib import Path

_SHARE = 50
"""Of the files that a disk may hold, this part stays free: many small files take little room, and none fits after."""


def room(folder: Path) -> int:
    """Return the bytes that the disk of a folder has left; 0 where it may hold few more files.

    A system that counts no files says that it may hold 0.
    """
    disk = os.statvfs(folder)
    return 0 if disk.f_favail < disk.f_files // _SHARE else disk.f_bavail * disk.f_frsize


def most_files(folder: Path, share: float) -> float:
    """Return this share of the files that the disk of a folder may hold."""
    return os.statvfs(folder).f_files * share or float("inf")
