"""SHA-256 of files, and of values by their canonical bytes."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any


def canonical(value: Any) -> bytes:
    """Return JSON with sorted keys, no spaces, and no NaN or infinity."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def digest(value: Any) -> str:
    """SHA-256 of the canonical bytes, as 64 hexadecimal digits."""
    return hashlib.sha256(canonical(value)).hexdigest()


def sha256(path: Path) -> str:
    """Return the hash of a file's bytes, as 64 hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def identity(path: Path) -> tuple[int, int, int]:
    """Return what changes when a file is written to: device and inode aside, its size and time."""
    stat = path.stat()
    return stat.st_ino, stat.st_size, stat.st_mtime_ns
