"""Opening files that may be compressed: gzip shows by its first bytes, whatever the name says."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any, BinaryIO, cast

import pyarrow as pa

from ppdm_flow.sources.faults import unreadable

_MAGIC = b"\x1f\x8b"


def is_gzip(path: Path) -> bool:
    """Whether the file starts like a gzip stream. Raises DataError where it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(2) == _MAGIC
    except OSError as error:
        raise unreadable(path, error) from None


def arrow_stream(path: Path) -> Any:
    """Return the decompressed bytes as an Arrow input stream. Raises DataError where it cannot be opened."""
    packed = is_gzip(path)
    try:
        file = pa.OSFile(str(path), "rb")
    except OSError as error:
        raise unreadable(path, error) from None
    return pa.CompressedInputStream(file, "gzip") if packed else file


def binary(path: Path) -> BinaryIO:
    """Return the decompressed bytes as a file object. Raises DataError where it cannot be opened."""
    packed = is_gzip(path)
    try:
        return cast("BinaryIO", gzip.open(path, "rb") if packed else path.open("rb"))
    except OSError as error:
        raise unreadable(path, error) from None
