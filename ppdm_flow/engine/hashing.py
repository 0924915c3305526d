"""SHA-256 of files."""

from __future__ import annotations

import hashlib
from pathlib import Path


def sha256(path: Path) -> str:
    """Return the hash of a file's bytes, as 64 hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def identity(path: Path) -> tuple[int, int, int]:
    """Return what changes when a file is written to: device and inode aside, its size and time."""
    stat = path.stat()
    return stat.st_ino, stat.st_size, stat.st_mtime_ns
