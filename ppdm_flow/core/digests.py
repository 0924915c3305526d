"""SHA-256 of files, and of values by their canonical bytes."""

from __future__ import annotations

import errno
import functools
import hashlib
import io
import itertools
import json
import os
import re
import stat
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, BinaryIO


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


_SHA256 = re.compile("[0-9a-f]{64}")
EXPECTED = "PPDM_EXPECTED_FILES"
"""The variable that names a JSON file with marks by absolute paths: of all definitions that are not installed."""
_HASHED = 1 << 26
"""Bytes up to which files are hashed, all together, to tell them from others."""
_INSTALLED = (Path(sys.prefix), Path(sys.base_prefix), Path(__file__).parents[1])


_SPECIAL, _MEMORY = ("/proc/", "/sys/", "/dev/"), "/dev/shm/"  # noqa: S108  # a folder for ordinary files
_PLACE = getattr(os, "O_PATH", os.O_RDONLY | os.O_NONBLOCK)
"""To look at what is there: opening a pipe or a device would have effects."""


def open_ordinary(path: Path) -> io.BufferedReader:
    """Open a file. Raises OSError for pipes, devices and files that the system makes up: some block for ever."""
    try:
        place = os.open(path, _PLACE | os.O_CLOEXEC)
    except ValueError:  # a NUL
        raise OSError(errno.EINVAL, "it is no path") from None
    try:
        mode, link = os.fstat(place).st_mode, Path(f"/proc/self/fd/{place}")
        opened_path = link if link.exists() else path
        real = os.path.realpath(opened_path)
        if stat.S_ISREG(mode) and (not real.startswith(_SPECIAL) or real.startswith(_MEMORY)):
            return opened_path.open("rb")
    finally:
        os.close(place)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    raise OSError(errno.EINVAL, "it is no ordinary file")


def _sha256_of_ordinary(path: Path) -> str:
    with open_ordinary(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def marks_of(files: Iterable[Path]) -> Mapping[Path, str]:
    """Return what tells files from others: their SHA-256, or size and time of those that are large. Raises OSError."""
    marks, left = {}, _HASHED
    for size, file in sorted((file.stat().st_size, file) for file in files):
        left -= size
        marks[file] = _sha256_of_ordinary(file) if left >= 0 else _stamp(file)
    return marks


def is_as_marked(file: Path, mark: str) -> bool:
    """Return whether a file is there, and is the one that a mark tells."""
    try:
        if _SHA256.fullmatch(mark):
            return file.stat().st_size <= _HASHED and _sha256_of_ordinary(file) == mark
        return _stamp(file) == mark
    except OSError:
        return False


def _stamp(file: Path) -> str:
    return _stamp_of(file.stat())


def _stamp_of(about: os.stat_result) -> str:
    return f"{about.st_size} bytes of {about.st_mtime_ns}"


class _Pipes:
    """Whether this process may read pipes: not where others than its user say which files are read."""

    are_read = True


def leave_pipes() -> None:
    """Read no pipe in this process from now on: what is read of one is lost for who waits for it."""
    _Pipes.are_read = False


def open_definition(path: Path, *, pipes: bool = True) -> BinaryIO:
    """Open a file that defines part of a policy, or a pipe where ``pipes`` may be read; all such files open here.

    Where the environment says which definitions are to be read, what is returned holds the bytes that were marked, even
    if the file changes meanwhile. Raises OSError, also where it is another one than was marked.
    """
    file = path.open("rb") if pipes and _Pipes.are_read and _is_own_pipe(path) else open_ordinary(path)
    named = os.environ.get(EXPECTED)
    if named is None:
        return file
    expected = _expected(named).get(_absolute(path))
    if expected is None and any(Path(_absolute(path)).is_relative_to(place) for place in _INSTALLED):
        return file
    if expected == _stamp_of(os.fstat(file.fileno())):
        return file
    with file:
        data = file.read(_HASHED)
    if hashlib.sha256(data).hexdigest() != expected:
        raise OSError(errno.ESTALE, "it is not as it was looked at")
    return io.BytesIO(data)


def _is_own_pipe(path: Path) -> bool:
    """Whether a path is a pipe, and none of another process: what is read of these is lost for who reads them."""
    if not path.is_fifo():
        return False
    real = os.path.realpath(path)
    return not real.startswith("/proc/") or real.startswith(f"/proc/{os.getpid()}/")


@functools.cache
def _expected(named: str) -> dict[str, str]:
    return dict(json.loads(Path(named).read_text(encoding="utf-8")))


_number = itertools.count(1)
_readings: dict[str, dict[str, int]] = {}
"""By absolute path the digests of what was read there, each with the number of its last reading in this process."""


def read_definition(path: Path) -> bytes:
    """Return the bytes of a file that says what a policy means, such as a hierarchy, and note their digest.

    A locked run compares what was read with its lock: the file itself may hold other bytes before and after.
    Raises OSError, also as `open_definition` does.
    """
    with open_definition(path) as file:
        data = file.read()
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
