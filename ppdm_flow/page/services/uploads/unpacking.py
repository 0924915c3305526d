"""Packed uploads: what they hold is counted while it is unpacked, and what they say of themselves is not believed."""

from __future__ import annotations

import gzip
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import DataError
from ppdm_flow.page.services.uploads.kinds import Kind
from ppdm_flow.page.services.uploads.limits import Limits

_PIECE = 1 << 20
_SMALL = 64 * 2**20
"""What may come of any file, however small it is."""
_MEMBERS = 10_000
_WORKBOOK = "xl/workbook.xml"
_LONGEST = 2**62


def check_unpacked(file: Path, kind: Kind, limits: Limits) -> None:
    """Raise DataError where a file unpacks to too much (PPF996), or is damaged or no workbook (PPF995)."""
    if not kind.packed and kind.format != "excel":
        return
    most = min(limits.unpacked_bytes, max(_SMALL, file.stat().st_size * limits.unpacked_ratio))
    unpacked = 0
    try:
        for piece in _gzip(file) if kind.packed else _workbook(file):
            unpacked += piece
            if unpacked > most:
                raise _bomb(f"more than {most // 2**20:,} MB")
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile, NotImplementedError, RuntimeError, ValueError):
        raise _damaged("its packing is damaged, or of an unusual kind") from None


def _gzip(file: Path) -> Iterator[int]:
    with gzip.open(file) as opened:
        while piece := opened.read(_PIECE):
            yield len(piece)


def _workbook(file: Path) -> Iterator[int]:
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        if len(members) > _MEMBERS:
            raise _bomb(f"more than {_MEMBERS:,} files")
        names = [member.filename for member in members]
        if _WORKBOOK not in names or len(set(names)) != len(names):
            raise _damaged("it is a ZIP archive, and no workbook of Excel")
        for member in members:
            yield from _member(archive, member)


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Iterator[int]:
    """Count all that a member unpacks to: its own word for that ends the reading too early where it is too small."""
    said, member.file_size = member.file_size, _LONGEST
    real = 0
    opened: BinaryIO
    with archive.open(member) as opened:  # type: ignore[assignment]  # it is one, by its methods
        while piece := opened.read(_PIECE):
            real += len(piece)
            yield len(piece)
    if real != said:
        raise _damaged("a part of it is not as long as it says")


def _bomb(what: str) -> DataError:
    help_ = "send the table as Parquet, or unpacked"
    return DataError(Diagnostic("PPF996", f"the upload is refused: it unpacks to {what}", help=help_))


def _damaged(why: str) -> DataError:
    return DataError(Diagnostic("PPF995", f"the upload is refused: {why}", help="write the file anew"))
