"""Tables, counts and sets that cannot be written to again: their memory is shown through immutable buffers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy.typing as npt

from ppdm_flow.tables.buffers import frozen, frozen_texts
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.counts import Counts
from ppdm_flow.tables.numeric.column import NumericColumn
from ppdm_flow.tables.sets import Baskets, PackedSets, SetColumn
from ppdm_flow.tables.table import Table


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
