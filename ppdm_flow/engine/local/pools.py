"""Tables within a sort, as blocks of numbers with one alphabet for each column."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.core.roles import AttributeType
from ppdm_flow.engine.faults import run_fault
from ppdm_flow.engine.local.spilling import ColumnPiece, FixedLengthPiece, Places, RaggedPiece, SpilledBlock
from ppdm_flow.engine.streams.coding import without_unused
from ppdm_flow.engine.streams.narrow import fitting
from ppdm_flow.engine.streams.stream import StreamPart, part_keys
from ppdm_flow.tables.column import MISSING, SUPPRESSED, Column
from ppdm_flow.tables.numeric.column import NumericColumn
from ppdm_flow.tables.sets import Baskets, PackedSets, SeededSets, SetColumn
from ppdm_flow.tables.table import Table

_HEAD = 2
_SHORT = (1 << 32) - 1


class Pools:
    """Turns partitions into blocks (keys, row numbers, then a piece for each column) and blocks into tables."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = tuple(names)
        self._pools: list[TextPool | NumberPool | SetPool | None] = [None] * len(self._names)

    def block(self, part: StreamPart) -> SpilledBlock:
        """Return a partition with keys as a block. Raises RunError for a column that others have in another form."""
        return self.prepared(part)()

    def prepared(self, part: StreamPart) -> Callable[[], SpilledBlock]:
        """Take in the categories of a partition, and return what makes its block, which any thread may carry out.

        Raises RunError as above.
        """
        return partial(_block, part, [self._piece(i, part.table, n) for i, n in enumerate(self._names)])

    def table(self, block: SpilledBlock, places: Places) -> Table:
        """Return the rows of a block at some places; only the categories that occur there stay."""
        columns: dict[str, Column] = {}
        sets: dict[str, SetColumn] = {}
        for i, name in enumerate(self._names):
            pool, piece = self._pools[i], block.pieces[_HEAD + i].take(places)
            if isinstance(pool, SetPool):
                sets[name] = pool.column(piece)
            elif isinstance(pool, NumberPool):
                columns[name] = pool.column(piece)
            elif isinstance(pool, TextPool):
                columns[name] = without_unused(Column(piece.arrays[0].astype(np.int32), pool.categories()))
        return Table(columns, block.plain(1)[places].astype(np.int64, copy=False), sets)

    def _piece(self, place: int, table: Table, name: str) -> Callable[[], ColumnPiece]:
        pool = self._pools[place]
        if name in table.sets:
            pool = self._pools[place] = pool if isinstance(pool, SetPool) else SetPool()
            return pool.piece(table.sets[name])
        column = table[name]
        if pool is None and isinstance(column, NumericColumn):
            pool = self._pools[place] = NumberPool(column.kind)
        if isinstance(pool, NumberPool):
            return pool.piece(column)
        pool = self._pools[place] = pool if isinstance(pool, TextPool) else TextPool()
        return pool.piece(column)


def _block(part: StreamPart, pieces: Sequence[Callable[[], ColumnPiece]]) -> SpilledBlock:
    rows = part.table.rows
    narrow = rows.astype(np.uint32) if len(rows) and rows.min() >= 0 and rows.max() <= _SHORT else rows
    return SpilledBlock(
        (FixedLengthPiece.of(part_keys(part)), FixedLengthPiece.of(narrow), *(piece() for piece in pieces))
    )


# One alphabet for a column of sets over all partitions of a sort.


_LOOKED_UP = 1 << 18


class TextPool:
    """The texts so far. Up to 262,144 of them none is there twice; above that, looking up costs more than repeating."""

    def __init__(self) -> None:
        self._pieces: list[pa.StringArray] = []
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def categories(self) -> pa.StringArray:
        """Return the texts that codes point into."""
        if len(self._pieces) != 1:
            self._pieces = [pa.concat_arrays(self._pieces)] if self._pieces else [pa.array([], pa.string())]
        return self._pieces[0]

    def piece(self, column: Column) -> Callable[[], ColumnPiece]:
        """Add new values of ``column`` to the pool, and return a function for its codes there, in a narrow type."""
        code_map = self.code_map(column.categories)
        return partial(_coded, column.codes, code_map.astype(fitting(self._size)))

    def code_map(self, names: pa.StringArray) -> npt.NDArray[np.int32]:
        """Return the place of each text in the pool, after taking in what is new."""
        if self._size <= _LOOKED_UP:
            return self._looked_up(names)
        self._append(names)
        return np.arange(self._size - len(names), self._size, dtype=np.int32)

    def _looked_up(self, names: pa.StringArray) -> npt.NDArray[np.int32]:
        known = self.categories()
        places = pc.index_in(names, value_set=known)
        fresh = places.is_null().to_numpy(zero_copy_only=False)
        code_map: npt.NDArray[np.int32] = places.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int32)
        code_map[fresh] = np.arange(self._size, self._size + int(fresh.sum()), dtype=np.int32)
        self._append(names.filter(pa.array(fresh)))
        return code_map

    def _append(self, names: pa.StringArray) -> None:
        if len(names):
            self._pieces.append(names)
            self._size += len(names)


def _coded(codes: npt.NDArray[np.int32], code_map: npt.NDArray[np.signedinteger]) -> ColumnPiece:
    if np.array_equal(code_map, np.arange(len(code_map))):
        return FixedLengthPiece.of(codes.astype(code_map.dtype))
    special = np.array([SUPPRESSED, MISSING], dtype=code_map.dtype)
    return FixedLengthPiece.of(np.concatenate([code_map, special]).take(codes))


class NumberPool:
    """Turns numeric columns of one type into arrays of numbers and back."""

    def __init__(self, kind: AttributeType) -> None:
        self.kind = kind

    def piece(self, column: Column) -> Callable[[], ColumnPiece]:
        """Return what makes values and mask. Raises RunError for a column of another kind."""
        if not isinstance(column, NumericColumn) or column.kind is not self.kind:
            raise run_fault("PPF753", "partitions of one release have numbers and labels in one column")
        missing = np.zeros(len(column), dtype=bool) if column.missing is None else column.missing
        return partial(FixedLengthPiece.of, column.values, missing)

    def column(self, piece: ColumnPiece) -> NumericColumn:
        """Return the column again."""
        values, missing = piece.arrays
        return NumericColumn(values, self.kind, missing)


def _ragged(column: Baskets, code_map: npt.NDArray[np.signedinteger]) -> ColumnPiece:
    return RaggedPiece(column.sizes, code_map[column.items])


_LAST = -1


class SetPool:
    """Turns sets into arrays of numbers and back.

    Baskets may bring new items with every partition; packed and seeded sets have one alphabet from the first on, and
    travel as words or seeds beside sizes.
    """

    def __init__(self) -> None:
        self._items = TextPool()
        self._model: SetColumn | None = None

    def piece(self, column: SetColumn) -> Callable[[], ColumnPiece]:
        """Return what makes the numbers. Raises RunError where alphabets differ that must not."""
        if self._model is None:
            self._model = column.take(slice(0, 0))
        if isinstance(column, Baskets):
            codes = self._items.code_map(column.categories).astype(fitting(len(self._items)))
            return partial(_ragged, column, codes)
        self._same_alphabet(column)
        cells = column.words if isinstance(column, PackedSets) else column.seeds
        return partial(FixedLengthPiece.of, cells, column.sizes)

    def column(self, piece: ColumnPiece) -> SetColumn:
        """Return the sets again."""
        model = self._model
        if isinstance(piece, RaggedPiece):
            return self._baskets(piece)
        cells, sizes = piece.arrays
        if isinstance(model, SeededSets):
            return SeededSets(cells, sizes, model.categories, model.expansion)
        return PackedSets(cells, sizes, pa.array([], pa.string()) if model is None else model.categories)

    def _baskets(self, piece: RaggedPiece) -> Baskets:
        """Return baskets over the items that occur, sorted by text: the pool numbers them as they came."""
        known = self._items.categories()
        used = np.flatnonzero(np.bincount(piece.items, minlength=len(known)))
        order = pc.sort_indices(known.take(pa.array(used))).to_numpy()
        code_map = np.full(len(known), _LAST, dtype=np.int32)
        code_map[used[order]] = np.arange(len(used), dtype=np.int32)
        offsets = np.zeros(len(piece.sizes) + 1, dtype=np.int64)
        np.cumsum(piece.sizes, out=offsets[1:])
        raw = Baskets(offsets, piece.items.astype(np.int32), known)
        return raw.mapped(code_map, known.take(pa.array(used[order])))

    def _same_alphabet(self, column: PackedSets | SeededSets) -> None:
        model = self._model
        same = type(model) is type(column) and model is not None and model.categories.equals(column.categories)
        if same and isinstance(model, SeededSets) and isinstance(column, SeededSets):
            same = model.expansion == column.expansion
        if not same:
            raise run_fault("PPF753", "partitions of one release have randomized sets over different alphabets")
