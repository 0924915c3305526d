"""Files written whole: at any moment there is the old text or the new one."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

_MARK = b"\xef\xbb\xbf"


def plain(text: str) -> str:
    """Return a text with line feeds alone between its lines."""
    return text.replace("\r\n", "\n")


def as_bytes(text: str, before: bytes) -> bytes:
    """Return a text with the line ends, and the byte order mark, of the file ``before``: forms send others."""
    normalized = plain(text)
    if normalized and not normalized.endswith("\n") and (not before or before.endswith(b"\n")):
        normalized += "\n"
    windows = before.count(b"\r\n") * 2 > before.count(b"\n") > 0
    data = (normalized.replace("\n", "\r\n") if windows else normalized).encode()
    return _MARK + data if before.startswith(_MARK) else data


def put(path: Path, data: bytes, mode: int) -> None:
    """Write a file so that it is the old one or the new one at any moment."""
    beside = _beside(path, data, mode)
    try:
        beside.replace(path)
    except OSError:
        beside.unlink()
        raise
    _settle(path.parent)


def make(path: Path, data: bytes) -> None:
    """Write a file that is not there yet. Raises FileExistsError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = _beside(path, data, 0o644)
    try:
        os.link(beside, path)
    finally:
        beside.unlink()
    _settle(path.parent)


def _beside(path: Path, data: bytes, mode: int) -> Path:
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:  # noqa: PTH123  # with a mode
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    return beside


def _settle(folder: Path) -> None:
    """Have the folder's change on the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
