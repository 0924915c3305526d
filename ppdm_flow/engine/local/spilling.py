"""Rows on their way through a sort, as arrays of numbers in memory or in a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, Protocol

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Places = npt.NDArray[np.int64] | slice

_RAGGED = 0


class Piece(Protocol):
    """One column of some rows."""

    @property
    def arrays(self) -> tuple[Array, ...]:
        """What is held."""
        ...

    def take(self, places: Places) -> Piece:
        """Return the cells at these positions; those of a slice share the memory."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class FixedLengthPiece:
    """A fixed number of numbers per row: one array, or several side by side, each with rows first."""

    arrays: tuple[Array, ...]

    @classmethod
    def of(cls, *arrays: Array) -> FixedLengthPiece:
        """Return the arrays as one column."""
        return cls(arrays)

    def take(self, places: Places) -> FixedLengthPiece:
        """Return the cells at these positions."""
        return FixedLengthPiece(tuple(a[places] for a in self.arrays))


@dataclass(frozen=True, slots=True, eq=False)
class RaggedPiece:
    """A varying number of numbers per row: the counts, and all numbers one row after the other."""

    sizes: Array
    items: Array

    @property
    def arrays(self) -> tuple[Array, ...]:
        """Sizes and items."""
        return self.sizes, self.items

    def take(self, places: Places) -> RaggedPiece:
        """Return the rows at these positions."""
        ends = np.cumsum(self.sizes, dtype=np.int64)
        sizes = self.sizes[places]
        starts = (ends - self.sizes)[places]
        before = np.cumsum(sizes, dtype=np.int64) - sizes
        source = np.repeat(starts - before, sizes) + np.arange(int(sizes.sum()))
        return RaggedPiece(sizes, self.items[source])


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Rows of one bucket, column by column; the first one is plain."""

    pieces: tuple[Piece, ...]

    def __len__(self) -> int:
        return len(self.pieces[0].arrays[0])

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return int(sum(a.nbytes for p in self.pieces for a in p.arrays))

    def plain(self, place: int) -> Array:
        """Return the cells of a plain column."""
        return self.pieces[place].arrays[0]

    def take(self, places: Places) -> Block:
        """Return the rows at these positions."""
        return Block(tuple(p.take(places) for p in self.pieces))


def joined(blocks: Sequence[Block]) -> Block:
    """Stack blocks of the same columns."""
    if len(blocks) == 1:
        return blocks[0]
    columns = zip(*(b.pieces for b in blocks), strict=True)
    return Block(tuple(_joined(pieces) for pieces in columns))


def save(file: BinaryIO, block: Block) -> None:
    """Append a block to a file."""
    shape = [_RAGGED if isinstance(p, RaggedPiece) else len(p.arrays) for p in block.pieces]
    np.save(file, np.array(shape), allow_pickle=False)
    for piece in block.pieces:
        for array in piece.arrays:
            np.save(file, array, allow_pickle=False)


def load(file: BinaryIO) -> Block:
    """Read the next block of a file."""
    shape = np.load(file, allow_pickle=False).tolist()
    return Block(tuple(_loaded(file, arrays) for arrays in shape))


def _joined(pieces: Sequence[Piece]) -> Piece:
    arrays = tuple(np.concatenate(a) for a in zip(*(p.arrays for p in pieces), strict=True))
    return RaggedPiece(*arrays) if isinstance(pieces[0], RaggedPiece) else FixedLengthPiece(arrays)


def _loaded(file: BinaryIO, arrays: int) -> Piece:
    arrays_read = tuple(np.load(file, allow_pickle=False) for _ in range(arrays or 2))
    return RaggedPiece(*arrays_read) if arrays == _RAGGED else FixedLengthPiece(arrays_read)
