"""Released files on their way to a guest, in pieces: one as it is, or all in a zip archive."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import BinaryIO

from ppdm_flow.page.services.released.files import ChangedFileError, GuestFile

_PIECE = 2**18
_DAY = (1980, 1, 1, 0, 0, 0)
"""What the archive says of the time of each file: none."""


def checked(files: Sequence[GuestFile]) -> None:
    """Hash files that were not hashed since they were last written. Raises ChangedFileError."""
    for file in files:
        try:
            stat = file.path.lstat()
        except OSError:
            raise ChangedFileError(file.name) from None
        _check(file, (stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns))


@lru_cache(maxsize=4_096)
def _check(file: GuestFile, _identity: tuple[int, ...]) -> None:
    file.check()


def pieces(file: GuestFile) -> Iterator[bytes]:
    """Yield the bytes of a file, no more than it has by the manifest."""
    left = file.bytes
    with _opened(file) as source:
        while left and (piece := source.read(min(_PIECE, left))):
            left -= len(piece)
            yield piece


def archive(files: Sequence[GuestFile], folder: str) -> Iterator[bytes]:
    """Yield a zip archive with the files in one folder. A text is packed quickly, what is packed already stays."""
    out = _Pieces()
    with zipfile.ZipFile(out, "w", allowZip64=True) as packed:
        for file in files:
            about = zipfile.ZipInfo(f"{folder}/{file.name}", _DAY)
            about.compress_type = zipfile.ZIP_STORED if _is_packed(file.name) else zipfile.ZIP_DEFLATED
            about.external_attr = 0o644 << 16
            with packed.open(about, "w", force_zip64=True) as entry:
                for piece in pieces(file):
                    entry.write(piece)
                    yield from out.taken()
    yield from out.taken()


def _is_packed(name: str) -> bool:
    return name.lower().endswith((".parquet", ".xlsx", ".gz", ".zip", ".zst"))


def _opened(file: GuestFile) -> BinaryIO:
    try:
        return os.fdopen(os.open(file.path, os.O_RDONLY | os.O_NOFOLLOW), "rb")
    except OSError:
        raise ChangedFileError(file.name) from None


class _Pieces:
    """A file that is only written to; what was written is taken away from time to time."""

    def __init__(self) -> None:
        self._written: list[bytes] = []

    def write(self, data: bytes, /) -> int:
        self._written.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Do nothing: there is no buffer."""

    def close(self) -> None:
        """Do nothing: nothing is open."""

    def taken(self) -> list[bytes]:
        """Return what was written since the last time."""
        written, self._written = self._written, []
        return written
