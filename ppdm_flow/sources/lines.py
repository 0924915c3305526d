"""Text in blocks of whole lines, as arrays of bytes."""

from __future__ import annotations

import codecs
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Generic, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.core.errors import DataError
from ppdm_flow.sources.faults import damaged, fault, unreadable
from ppdm_flow.sources.gzipped import binary, is_gzip
from ppdm_flow.tables.sets import Baskets, gathered

Octets = npt.NDArray[np.uint8]

_BLOCK = 1 << 23
_LONGEST = 1 << 29
_NEWLINE = 10


@dataclass(frozen=True, slots=True, eq=False)
class LineBlock:
    """Whole lines, each ended by a line feed; ``first`` is the number of the first one, from 1."""

    octets: Octets
    first: int
    lines: int


def blocks(path: Path) -> Iterator[LineBlock]:
    """Yield the text in order, without a byte order mark. Raises DataError where the file cannot be read."""
    first = 1
    try:
        with binary(path) as file:
            for text in _complete_lines(path, file):
                octets = np.frombuffer(text, dtype=np.uint8)
                lines = int(np.count_nonzero(octets == _NEWLINE))
                yield LineBlock(octets, first, lines)
                first += lines
    except (EOFError, zlib.error):
        raise damaged(path) from None
    except OSError as error:
        raise (damaged(path) if error.errno is None else unreadable(path, error)) from None


def _complete_lines(path: Path, file: BinaryIO) -> Iterator[bytes]:
    """Yield about 8 MB at a time, up to a line's end; the last line may lack its own."""
    rest = b""
    begun = False
    while True:
        chunk = file.read(_BLOCK)
        if not begun and chunk:
            begun, chunk = True, chunk.removeprefix(codecs.BOM_UTF8)
        elif not chunk:
            break
        end = chunk.rfind(b"\n") + 1
        if end:
            yield rest + chunk[:end]
            rest = chunk[end:]
        else:
            rest += chunk
        if len(rest) > _LONGEST:
            raise _endless(path)
    if rest:
        yield rest + b"\n"


def line_of(block: LineBlock, place: int) -> int:
    """Return the number of the line in which a byte of the block stands."""
    return block.first + int(np.count_nonzero(block.octets[:place] == _NEWLINE))


def undecodable_place(octets: Octets) -> int:
    """Return where the bytes stop being UTF-8: a slow second look."""
    try:
        octets.tobytes().decode()
    except UnicodeDecodeError as error:
        return error.start
    return 0


def _endless(path: Path) -> DataError:
    return fault("PPF755", f"`{path}` has a line of more than {_LONGEST >> 20} MB: it is no text of one set a line")


# Sets as readers yield them, one Arrow list column; and readers of text files of one set a line, without a header.


NAME = "items"
"""The name of the one column of formats that have no header; the policy's own name takes its place."""


def merged(baskets: Baskets) -> tuple[Baskets, int]:
    """Return sets with each item once, and how many repetitions were left out."""
    distinct, _ = gathered(baskets.rows(), baskets.items, len(baskets), baskets.categories)
    return distinct, len(baskets.items) - len(distinct.items)


def listed(baskets: Baskets, columns: Sequence[str]) -> pa.RecordBatch:
    """Return the block of rows; with no column asked for, only their number."""
    if not columns:
        return pa.RecordBatch.from_struct_array(pa.array([{}] * len(baskets), pa.struct([])))
    values = pa.DictionaryArray.from_arrays(pa.array(baskets.items, pa.int32()), baskets.categories)
    lists = pa.LargeListArray.from_arrays(pa.array(baskets.offsets, pa.int64()), values)
    return pa.RecordBatch.from_arrays([lists] * len(columns), names=list(columns))


def refuse_empty(offsets: npt.NDArray[np.int64], first: int, what: str) -> None:
    """Raise DataError for the first set without items; ``first`` is the number of the first row."""
    none = np.flatnonzero(np.diff(offsets) == 0)
    if len(none):
        raise without_items(f"{what} {first + int(none[0])}")


def without_items(place: str) -> DataError:
    """Say that a set has no items, and that the policy does not want that."""
    return fault("PPF756", f"{place} has no items", help="`with: {empty: keep}` keeps it as an empty set")


def ranked(texts: pa.StringArray) -> tuple[pa.StringArray, npt.NDArray[np.int32]]:
    """Return distinct texts in binary order, and the place there of each of ``texts``."""
    order: npt.NDArray[Any] = pc.sort_indices(texts).to_numpy()
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return texts.take(pa.array(order)), rank


P = TypeVar("P")


class SetLines(ABC, Generic[P]):
    """One file, read block by block. ``repeated`` counts the repetitions that the last pass left out."""

    def __init__(self, params: P, path: Path) -> None:
        self.params = params
        self.path = path
        self.repeated = 0

    @abstractmethod
    def baskets(self, block: LineBlock) -> Baskets:
        """Return the sets of a block. Raises DataError with the line."""

    def names(self) -> tuple[str, ...]:
        """Return the one name: there is no header. Raises DataError where the file cannot be read."""
        is_gzip(self.path)
        return (NAME,)

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the sets. Raises DataError with the line."""
        self.repeated = 0
        for block in blocks(self.path):
            yield listed(self.baskets(block), columns)
