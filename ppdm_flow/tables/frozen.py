"""Tables, counts and sets that cannot be written to again: their memory is shown through immutable buffers.

A flag on an array is no protection: ``setflags(write=True)`` takes it back where the array or its base owns writeable
memory. An array over a buffer that says of itself that it is immutable cannot be made writeable, and shows no way back
to the array whose memory it is. Nothing is copied but what is not contiguous.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.tables.column import Column
from ppdm_flow.tables.counts import Counts
from ppdm_flow.tables.numeric.column import NumericColumn
from ppdm_flow.tables.sets import Baskets, PackedSets, SetColumn
from ppdm_flow.tables.table import Table

Some = TypeVar("Some", bound=np.generic)


def frozen(array: npt.NDArray[Some]) -> npt.NDArray[Some]:
    """Return an array over the same memory that nobody can make writeable."""
    contiguous = np.ascontiguousarray(array)
    buffer = pa.foreign_buffer(contiguous.ctypes.data, contiguous.nbytes, base=contiguous)
    view: npt.NDArray[Some] = np.ndarray(contiguous.shape, contiguous.dtype, buffer=buffer)
    return view


def frozen_texts(texts: pa.StringArray) -> pa.StringArray:
    """Return the same texts over immutable buffers: those of a fresh Arrow array can be written to."""
    buffers = [b if b is None else pa.foreign_buffer(b.address, b.size, base=b) for b in texts.buffers()]
    return pa.Array.from_buffers(texts.type, len(texts), buffers, texts.null_count, texts.offset)


def frozen_column(column: Column) -> Column:
    """Return the column over immutable memory."""
    if isinstance(column, NumericColumn):
        missing = None if column.missing is None else frozen(column.missing)
        return NumericColumn(frozen(column.values), column.kind, missing)
    return Column(frozen(column.codes), frozen_texts(column.categories))


def frozen_sets(sets: SetColumn) -> SetColumn:
    """Return the column of sets over immutable memory."""
    names = frozen_texts(sets.categories)
    if isinstance(sets, Baskets):
        return Baskets(frozen(sets.offsets), frozen(sets.items), names)
    if isinstance(sets, PackedSets):
        return PackedSets(frozen(sets.words), frozen(sets.sizes), names)
    return replace(sets, seeds=frozen(sets.seeds), sizes=frozen(sets.sizes), categories=names)


def frozen_table(table: Table) -> Table:
    """Return the table over immutable memory."""
    columns = {name: frozen_column(column) for name, column in table.columns.items()}
    return Table(columns, frozen(table.rows), {name: frozen_sets(sets) for name, sets in table.sets.items()})


def frozen_counts(counts: Counts) -> Counts:
    """Return the counts over immutable memory."""
    names = tuple(frozen_texts(each) for each in counts.categories)
    return Counts(counts.columns, names, frozen(counts.codes), frozen(counts.counts))


def arrays_of(sets: SetColumn) -> tuple[npt.NDArray[Any], ...]:
    """Return the arrays that a column of sets is made of, in the order of its fields."""
    if isinstance(sets, Baskets):
        return sets.offsets, sets.items
    return (sets.words, sets.sizes) if isinstance(sets, PackedSets) else (sets.seeds, sets.sizes)
