"""Rows within a sort, as arrays of numbers in memory or in a file."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Places = npt.NDArray[np.int64] | slice

_RAGGED = 0


class ColumnPiece(Protocol):
    """One column of some rows."""

    @property
    def arrays(self) -> tuple[Array, ...]:
        """What is held."""
        ...

    def take(self, places: Places) -> ColumnPiece:
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
        if isinstance(places, slice):
            return FixedLengthPiece(tuple(a[places] for a in self.arrays))
        return FixedLengthPiece(tuple(a.take(places, axis=0) for a in self.arrays))


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
class SpilledBlock:
    """Rows of one bucket, column by column; the first one is plain."""

    pieces: tuple[ColumnPiece, ...]

    def __len__(self) -> int:
        return len(self.pieces[0].arrays[0])

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return int(sum(a.nbytes for p in self.pieces for a in p.arrays))

    def plain(self, place: int) -> Array:
        """Return the cells of a plain column."""
        return self.pieces[place].arrays[0]

    def take(self, places: Places) -> SpilledBlock:
        """Return the rows at these positions."""
        return SpilledBlock(tuple(p.take(places) for p in self.pieces))


def joined(blocks: Sequence[SpilledBlock]) -> SpilledBlock:
    """Stack blocks of the same columns."""
    if len(blocks) == 1:
        return blocks[0]
    columns = zip(*(b.pieces for b in blocks), strict=True)
    return SpilledBlock(tuple(_joined(pieces) for pieces in columns))


@dataclass(frozen=True, slots=True, eq=False)
class BucketedBlock:
    """A block whose rows are ordered by bucket; those of bucket ``i`` lie from ``bounds[i]`` to ``bounds[i + 1]``."""

    block: SpilledBlock
    bounds: npt.NDArray[np.int64]

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """Rows of each bucket."""
        return np.diff(self.bounds)

    def places(self, first: int, last: int) -> slice:
        """Return where the rows of the buckets from ``first`` to below ``last`` lie."""
        return slice(int(self.bounds[first]), int(self.bounds[last]))

    def cuts(self) -> Iterator[tuple[Array, npt.NDArray[np.int64]]]:
        """Yield each array with the places where its buckets begin and end."""
        for piece in self.block.pieces:
            if isinstance(piece, RaggedPiece):
                ends = np.concatenate([[0], np.cumsum(piece.sizes, dtype=np.int64)])
                yield piece.sizes, self.bounds
                yield piece.items, ends[self.bounds]
            else:
                yield from ((array, self.bounds) for array in piece.arrays)


def joined_buckets(blocks: Sequence[BucketedBlock], first: int, last: int) -> SpilledBlock:
    """Stack the rows of the buckets from ``first`` to below ``last`` of blocks of the same columns, at least one."""
    places = [each.places(first, last) for each in blocks]
    columns = zip(*(each.block.pieces for each in blocks), strict=True)
    return SpilledBlock(tuple(_joined_at(pieces, places) for pieces in columns))


_ALIGNED = 8


@dataclass(frozen=True, slots=True, eq=False)
class Spill:
    """The rows of some blocks in a file, bucket by bucket; what one of them takes is read at once.

    ``forms`` has for each array of a block its type and the shape of a cell, ``lengths`` (arrays, buckets) how many
    cells each has, ``starts`` (buckets + 1,) where a bucket begins in the file; ``shape`` is how many arrays make up
    each piece.
    """

    path: Path
    shape: tuple[int, ...]
    forms: tuple[tuple[np.dtype[Any], tuple[int, ...]], ...]
    lengths: npt.NDArray[np.int64]
    starts: npt.NDArray[np.int64]

    @classmethod
    def of(cls, blocks: Sequence[BucketedBlock], path: Path) -> Spill:
        """Write the blocks, which have the same columns."""
        shape = tuple(_RAGGED if isinstance(p, RaggedPiece) else len(p.arrays) for p in blocks[0].block.pieces)
        by_array = list(zip(*(block.cuts() for block in blocks), strict=True))
        kinds = [np.result_type(*(array.dtype for array, _ in each)) for each in by_array]
        forms = tuple((kind, each[0][0].shape[1:]) for kind, each in zip(kinds, by_array, strict=True))
        lengths = np.array([sum(np.diff(cuts) for _, cuts in each) for each in by_array])
        starts = [0]
        with path.open("xb") as file:
            for number in range(lengths.shape[1]):
                for kind, each in zip(kinds, by_array, strict=True):
                    for array, cuts in each:
                        file.write(np.ascontiguousarray(array[cuts[number] : cuts[number + 1]], dtype=kind).data)
                    file.write(bytes(-file.tell() % _ALIGNED))
                starts.append(file.tell())
        return cls(path, shape, forms, lengths, np.array(starts))

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """Rows of each bucket."""
        sizes: npt.NDArray[np.int64] = self.lengths[0]
        return sizes

    def load(self, number: int) -> SpilledBlock:
        """Return the rows of a bucket."""
        begin, end = int(self.starts[number]), int(self.starts[number + 1])
        with self.path.open("rb") as file:
            file.seek(begin)
            octets = file.read(end - begin)
        arrays, at = [], 0
        for (kind, cell), length in zip(self.forms, self.lengths[:, number].tolist(), strict=True):
            cells = length * math.prod(cell)
            arrays.append(
                np.frombuffer(octets, kind, cells, at).reshape(length, *cell)
                if cells
                else np.empty((length, *cell), kind)
            )
            at += -(-cells * kind.itemsize // _ALIGNED) * _ALIGNED
        left = iter(arrays)
        return SpilledBlock(tuple(_piece(many, left) for many in self.shape))

    def delete(self) -> None:
        """Delete the file."""
        self.path.unlink(missing_ok=True)


def _piece(arrays: int, left: Iterator[Array]) -> ColumnPiece:
    return RaggedPiece(next(left), next(left)) if arrays == _RAGGED else FixedLengthPiece(tuple(islice(left, arrays)))


def _joined_at(pieces: Sequence[ColumnPiece], places: Sequence[slice]) -> ColumnPiece:
    """Return the cells of pieces at these places, one piece after the other."""
    if isinstance(pieces[0], RaggedPiece):
        return _joined([p.take(at) for p, at in zip(pieces, places, strict=True)])
    arrays = zip(*(p.arrays for p in pieces), strict=True)  # and no piece of each: they may be thousands
    return FixedLengthPiece(
        tuple(np.concatenate([a[at] for a, at in zip(each, places, strict=True)]) for each in arrays)
    )


def _joined(pieces: Sequence[ColumnPiece]) -> ColumnPiece:
    arrays = tuple(np.concatenate(a) for a in zip(*(p.arrays for p in pieces), strict=True))
    return RaggedPiece(*arrays) if isinstance(pieces[0], RaggedPiece) else FixedLengthPiece(arrays)
