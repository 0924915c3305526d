"""One alphabet for a column of sets over all partitions of a sort."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.engine.faults import run_fault
from ppdm_flow.engine.streams.narrow import fitting
from ppdm_flow.engine.streams.pool import Pool
from ppdm_flow.engine.streams.spilling import FixedLengthPiece, Piece, RaggedPiece
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.sets import Baskets, PackedSets, SeededSets, SetColumn

_LAST = -1


class SetPool:
    """Turns sets into arrays of numbers and back.

    Baskets may bring new items with every partition; packed and seeded sets have one alphabet from the first on, and
    travel as words or seeds beside sizes.
    """

    def __init__(self) -> None:
        self._items = Pool()
        self._model: SetColumn | None = None

    def piece(self, column: SetColumn) -> Piece:
        """Return the numbers. Raises RunError where alphabets differ that must not."""
        if self._model is None:
            self._model = column.take(slice(0, 0))
        if isinstance(column, Baskets):
            codes = self._items.coded(Column(np.arange(len(column.categories), dtype=np.int32), column.categories))
            return RaggedPiece(column.sizes, codes[column.items].astype(fitting(len(self._items))))
        self._same_alphabet(column)
        return FixedLengthPiece.of(column.words if isinstance(column, PackedSets) else column.seeds, column.sizes)

    def column(self, piece: Piece) -> SetColumn:
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
