"""SHA-256 of files, and of values by their canonical bytes."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
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


_number = itertools.count(1)
_readings: dict[str, dict[str, int]] = {}
"""By absolute path the digests of what was read there, each with the number of its last reading in this process."""


def read_definition(path: Path) -> bytes:
    """Return the bytes of a file that says what a policy means, such as a hierarchy, and note their digest.

    A locked run holds what was read against its lock: the file itself may hold other bytes before and after.
    Raises OSError.
    """
    data = path.read_bytes()
    _readings.setdefault(_absolute(path), {})[hashlib.sha256(data).hexdigest()] = next(_number)
    return data


def reading_number() -> int:
    """Return a number that all readings from now on exceed."""
    return next(_number)


def digests_read(path: str | Path, since: int) -> frozenset[str]:
    """Return the digests of what `read_definition` returned for a file, after ``since`` of `reading_number`."""
    known = dict(_readings.get(_absolute(path), {}))
    return frozenset(digest for digest, number in known.items() if number > since)


def _absolute(path: str | Path) -> str:
    return os.path.abspath(path)  # noqa: PTH100  (keeps symlinks)
