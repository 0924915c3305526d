"""A numeric column: one number a row and a mask of missing cells, coded only for those who count distinct values."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.core.roles import AttributeType
from ppdm_flow.tables.buffers import frozen, frozen_texts
from ppdm_flow.tables.column import MISSING, Codes, Column
from ppdm_flow.tables.numeric.texts import texts_of

Numbers = npt.NDArray[Any]
"""int64 or float64."""
Mask = npt.NDArray[np.bool_]


LONGEST_NUMBER = 32
"""More bytes than the text of any number has."""
_SPAN = 2
"""Numbers between the least and the greatest, for each cell, up to which each gets a mark."""


def missing_mask(column: Column) -> Mask:
    """Return a mask of the missing cells, shape (rows,); suppressed ones are not missing."""
    if isinstance(column, NumericColumn):
        return np.zeros(len(column), dtype=bool) if column.missing is None else column.missing
    mask: Mask = column.codes == MISSING
    return mask


def dtype_of(kind: AttributeType) -> type[np.int64 | np.float64]:
    """Return how numbers of a type are held: whole numbers, days and microseconds since 1970 as int64, else float64."""
    return np.float64 if kind is AttributeType.FLOAT else np.int64


class NumericColumn(Column):
    """``values`` of shape (rows,), int64 or float64 by ``kind``, and ``missing``, a mask of that shape, None for none.

    Days since 1970 for a date, microseconds since 1970 for a timestamp. Floats are finite, and 0 has no sign. The value
    under a missing cell is 0. There are no suppressed cells: a column that has some holds labels, and is a
    :class:`Column`. As one it can be used as well: codes and categories are made when somebody asks for them, with
    the canonical text of each number, sorted by text.
    """

    __slots__ = ("_coded", "kind", "missing", "values")

    values: Numbers
    kind: AttributeType
    missing: Mask | None
    _coded: Column | None

    def __init__(self, values: Numbers, kind: AttributeType, missing: Mask | None = None) -> None:
        put = object.__setattr__
        if missing is not None and not missing.any():
            missing = None
        elif missing is not None:
            values = np.where(missing, values.dtype.type(0), values)
        put(self, "values", values)
        put(self, "kind", kind)
        put(self, "missing", missing)
        put(self, "_coded", None)

    def __reduce__(self) -> tuple[Any, ...]:
        return NumericColumn, (self.values, self.kind, self.missing)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def codes(self) -> Codes:
        """The codes of the cells in ``categories``."""
        return self.coded().codes

    @property
    def categories(self) -> pa.StringArray:
        """The distinct numbers as texts, sorted."""
        return self.coded().categories

    def coded(self) -> Column:
        """Return the same cells as codes; remembered."""
        coded = self._coded
        if coded is None:
            coded = self._made()
            object.__setattr__(self, "_coded", coded)
        return coded

    def take(self, rows: npt.NDArray[Any] | slice) -> NumericColumn:
        """Return the cells at ``rows``: positions, a boolean mask, or a slice."""
        return NumericColumn(self.values[rows], self.kind, None if self.missing is None else self.missing[rows])

    def compact(self) -> NumericColumn:
        """Return the column: no number stands in it that no row has."""
        return self

    def floats(self) -> npt.NDArray[np.float64]:
        """Return every cell as float64, shape (rows,); NaN where it is missing."""
        numbers = self.values.astype(np.float64)
        if self.missing is not None:
            numbers[self.missing] = np.nan
        return numbers

    def present(self) -> Numbers:
        """Return the numbers of the cells that are not missing, in order of rows."""
        return self.values if self.missing is None else self.values[~self.missing]

    def texts_by_row(self) -> pa.StringArray:
        """Return the text of every cell, null where it is missing: without looking for distinct ones."""
        texts = texts_of(self.values, self.kind)
        return (
            texts if self.missing is None else pc.if_else(pa.array(~self.missing), texts, pa.scalar(None, pa.string()))
        )

    def _made(self) -> Column:
        distinct, places = _distinct(self.present())
        names = texts_of(distinct, self.kind)
        order = pc.sort_indices(names).to_numpy()
        rank = np.empty(len(order), dtype=np.int32)
        rank[order] = np.arange(len(order), dtype=np.int32)
        codes = rank[places] if self.missing is None else np.full(len(self), MISSING, dtype=np.int32)
        if self.missing is not None:
            codes[~self.missing] = rank[places]
        return Column(frozen(codes), frozen_texts(names.take(pa.array(order))))  # several readers share them


def _distinct(values: Numbers) -> tuple[Numbers, npt.NDArray[np.intp]]:
    """Return the distinct numbers, ascending, and the place of each value among them."""
    if len(values) and np.issubdtype(values.dtype, np.integer):
        low, high = int(values.min()), int(values.max())
        if high - low < _SPAN * len(values):  # a mark for every number between is cheaper than to sort
            offsets = (values - values.dtype.type(low)).astype(np.intp)
            occurs = np.zeros(high - low + 1, dtype=bool)
            occurs[offsets] = True
            distinct: Numbers = np.flatnonzero(occurs).astype(values.dtype) + values.dtype.type(low)
            return distinct, (np.cumsum(occurs) - 1)[offsets]
    distinct, places = np.unique(values, return_inverse=True)
    return distinct, places.astype(np.intp, copy=False)


def stacked_numbers(columns: list[NumericColumn]) -> NumericColumn:
    """Return the cells of columns of one type, one column after the other."""
    masks = [c.missing for c in columns]
    missing = None
    if any(m is not None for m in masks):
        missing = np.concatenate([np.zeros(len(c), dtype=bool) if c.missing is None else c.missing for c in columns])
    return NumericColumn(np.concatenate([c.values for c in columns]), columns[0].kind, missing)
