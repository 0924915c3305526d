"""Packed uploads: what they hold is counted while it is unpacked, and what they say of themselves is not believed."""

from __future__ import annotations

import gzip
import json
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import DataError
from ppdm_flow.page.services.uploads.kinds import UploadKind
from ppdm_flow.page.services.uploads.limits import UploadLimits

if TYPE_CHECKING:
    import pyarrow as pa

_PIECE = 1 << 20
_SMALL = 64 * 2**20
"""What may come of any file, however small it is."""
_MEMBERS = 10_000
_WORKBOOK = "xl/workbook.xml"
_LONGEST = 2**62
_SMALL_PARQUET = 2**30
"""The same of Parquet, where few bytes say that a value goes on for many rows."""
_BYTES = "BYTE_ARRAY"
_NUMBER = 8
_ROWS = 1 << 16
_DELIMITERS = (b",", b";", b"\t", b"|")


def check_unpacked(file: Path, kind: UploadKind, limits: UploadLimits) -> None:
    """Raise DataError where a file unpacks to too much (PPF996), or is damaged or no workbook (PPF995)."""
    pieces = _gzip if kind.packed else _PIECES.get(kind.format)
    if pieces is None:
        return
    small = _SMALL_PARQUET if pieces is _parquet else _SMALL
    most = min(limits.unpacked_bytes, max(small, file.stat().st_size * limits.unpacked_ratio))
    unpacked = 0
    try:
        for piece in pieces(file):
            unpacked += piece
            if unpacked > most:
                raise _bomb(f"it unpacks to more than {most // 2**20:,} MB")
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile, NotImplementedError, RuntimeError, ValueError):
        raise _damaged("its packing is damaged, or of an unusual kind") from None


def check_columns(file: Path, kind: UploadKind, limits: UploadLimits) -> None:
    """Raise DataError where a file has more columns than the server takes (PPF996): each costs every look at it.

    Of a text the first line is looked at, before a reader guesses how it is written. What this does not find, the
    reader does (`look`).
    """
    if kind.format == "parquet":
        from pyarrow import parquet  # noqa: PLC0415  # the server itself reads no data

        columns = parquet.read_metadata(file).num_columns
    elif kind.format in _PIECES:
        return
    else:
        with gzip.open(file) if kind.packed else file.open("rb") as opened:
            line = opened.readline(_PIECE)
        columns = _keys(line) if kind.format == "jsonl" else max(map(line.count, _DELIMITERS)) + 1
    refuse_wide(columns, limits)


def refuse_wide(columns: int, limits: UploadLimits) -> None:
    """Raise DataError (PPF996) for more columns than the server takes."""
    if columns > limits.columns:
        raise _bomb(f"it has {columns:,} columns, and the server takes {limits.columns:,}")


def _keys(line: bytes) -> int:
    try:
        first = json.loads(line)
    except (ValueError, RecursionError):
        return 0
    return len(first) if isinstance(first, dict) else 0


def _parquet(file: Path) -> Iterator[int]:
    """Count what the values take once they are written out: a dictionary has each of them once."""
    from pyarrow import compute, parquet, types  # noqa: PLC0415  # the server itself reads no data

    with parquet.ParquetFile(file) as opened:
        schema = opened.schema
        columns = [schema.column(n) for n in range(len(schema))]
        texts = [column.path for column in columns if column.physical_type == _BYTES]
        for number, column in enumerate(columns):
            if column.physical_type != _BYTES:
                groups = (opened.metadata.row_group(g) for g in range(opened.metadata.num_row_groups))
                yield sum(group.column(number).num_values for group in groups) * max(_NUMBER, column.length or 0)
    with parquet.ParquetFile(file, read_dictionary=texts) as opened:
        for batch in opened.iter_batches(_ROWS, columns=texts) if texts else ():
            for array in chain.from_iterable(map(_leaves, batch.columns)):
                if types.is_dictionary(array.type):
                    lengths = compute.binary_length(array.dictionary).take(array.indices)
                    yield (compute.sum(lengths).as_py() or 0) + len(array)
                else:
                    yield array.nbytes


def _leaves(array: pa.Array) -> Iterator[pa.Array]:
    """Yield the arrays of values that lists and structs are made of."""
    from pyarrow import types  # noqa: PLC0415  # the server itself reads no data

    if types.is_struct(array.type):
        for part in array.flatten():
            yield from _leaves(part)
    elif types.is_map(array.type):
        yield from (*_leaves(array.keys), *_leaves(array.items))
    elif types.is_list(array.type) or types.is_large_list(array.type) or types.is_fixed_size_list(array.type):
        yield from _leaves(array.flatten())
    else:
        yield array


def _gzip(file: Path) -> Iterator[int]:
    with gzip.open(file) as opened:
        while piece := opened.read(_PIECE):
            yield len(piece)


def _workbook(file: Path) -> Iterator[int]:
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        if len(members) > _MEMBERS:
            raise _bomb(f"it holds more than {_MEMBERS:,} files")
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


_PIECES: Mapping[str, Callable[[Path], Iterator[int]]] = {"excel": _workbook, "parquet": _parquet}


def _bomb(what: str) -> DataError:
    help_ = "send what the policy needs of the table, as Parquet or unpacked"
    return DataError(Diagnostic("PPF996", f"the upload is refused: {what}", help=help_))


def _damaged(why: str) -> DataError:
    return DataError(Diagnostic("PPF995", f"the upload is refused: {why}", help="write the file anew"))
