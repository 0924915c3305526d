"""Text files that may be compressed: gzip shows by its first bytes; and what such a file holds beside its cells."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

import pyarrow as pa

from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.results import Finding
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


_BOM = b"\xef\xbb\xbf"
_GZIP = b"\x1f\x8b"
_FIELDS = {0x04: "fields of its own", 0x08: "the name of the file that was packed", 0x10: "a comment"}


def beside(path: Path) -> Iterator[Finding]:
    """Yield what there is; never a text of it."""
    with path.open("rb") as file:
        head = file.read(10)
    if head.startswith(_BOM):
        text = "the file begins with a byte order mark, which tells what wrote it"
        yield Finding("PPF925", Severity.INFO, text, "byte order mark")
    if head.startswith(_GZIP) and len(head) == 10:
        fields = [what for bit, what in _FIELDS.items() if head[3] & bit]
        fields += ["the time when it was packed"] if any(head[4:8]) else []
        if fields:
            text = f"the gzip header has {', '.join(fields)}"
            yield Finding("PPF925", Severity.WARNING, text, "gzip header")
