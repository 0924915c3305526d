"""Running a transform as an engine would: in partitions of any size, in any order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa

from ppdm_flow.core.draws import Draws, RunKey
from ppdm_flow.sdk.anonymizer import Generator, OrderTransform, RowTransform, TableTransform, Transform
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.frozen import frozen_table
from ppdm_flow.tables.sets import Baskets, PackedSets, SeededSets, SetColumn
from ppdm_flow.tables.table import Table, concat

KEY = RunKey.from_seed("conformance")
OTHER_KEY = RunKey.from_seed("another one")


def run(
    transform: Transform, table: Table, key: RunKey = KEY, partition_rows: int | None = None, *, lent: bool = False
) -> dict[str, Table]:
    """Return the outputs by name. Partitions are coded each in its own way, as engines may do.

    ``lent``: they cannot be written to. Raises TypeError for something that is no transform.
    """
    draws = Draws(key.step("step"), transform.draws_per_row)
    parts = _partitions(table, partition_rows or max(1, len(table)))
    if lent:
        table, parts = frozen_table(table), map(frozen_table, parts)
    if isinstance(transform, RowTransform):
        return {"": concat(transform.apply(part, draws) for part in parts)}
    if isinstance(transform, OrderTransform):
        keys = np.concatenate([transform.keys(part, draws) for part in parts])
        return {"": table.take(np.lexsort((table.rows, keys)))}
    if isinstance(transform, TableTransform):
        return dict(transform.apply_table(table, draws))
    if isinstance(transform, Generator):
        return {"": concat(transform.generate(part.rows, draws) for part in parts)}
    raise TypeError("neither RowTransform, OrderTransform, TableTransform nor Generator")


def _partitions(table: Table, size: int) -> Iterator[Table]:
    for place, start in enumerate(range(0, max(1, len(table)), size)):
        part = table.take(np.arange(start, min(start + size, len(table))))
        yield recoded(part, turned=place % 2 == 1)


def recoded(table: Table, *, turned: bool) -> Table:
    """Return the same cells with only the categories that occur, in descending order if ``turned``."""
    columns = {name: column.compact() for name, column in table.columns.items()}
    sets = {name: column.compact() for name, column in table.sets.items()}
    if turned:
        columns = {name: _turned(column) for name, column in columns.items()}
        sets = {name: _turned_sets(column) for name, column in sets.items()}
    return Table(columns, table.rows, sets)


def _turned_sets(column: SetColumn) -> SetColumn:
    return column.onto(column.categories[::-1]) if isinstance(column, Baskets) else column


def _turned(column: Column) -> Column:
    size = len(column.categories)
    places = np.arange(size)[::-1]
    return column.mapped(places.astype(np.int32), column.categories.take(pa.array(places)))


def same(one: Mapping[str, Table], other: Mapping[str, Table]) -> bool:
    """Whether all outputs have the same columns, source rows and cells."""
    return one.keys() == other.keys() and all(same_table(one[name], other[name]) for name in one)


def same_table(one: Table, other: Table) -> bool:
    """Whether two tables have the same columns in order, the same source rows in order, and the same cells."""
    if one.names != other.names or not np.array_equal(one.rows, other.rows):
        return False
    return all(same_cells(one, other, name) for name in one.names)


def same_cells(one: Table, other: Table, name: str) -> bool:
    """Whether a column has the same cells in both, whatever its categories are."""
    both = concat([one.select([name]), other.select([name])])
    if name in both.sets:
        return same_sets(both.sets[name], len(one))
    stacked = both[name].codes
    return np.array_equal(stacked[: len(one)], stacked[len(one) :])


def same_sets(stacked: SetColumn, size: int) -> bool:
    """Whether the first ``size`` sets are the same as those after them."""
    one, other = stacked.take(slice(0, size)), stacked.take(slice(size, len(stacked)))
    match one, other:
        case Baskets(), Baskets():
            return np.array_equal(one.offsets, other.offsets) and np.array_equal(one.items, other.items)
        case PackedSets(), PackedSets():
            return np.array_equal(one.words, other.words) and np.array_equal(one.sizes, other.sizes)
        case SeededSets(), SeededSets():
            return np.array_equal(one.seeds, other.seeds) and np.array_equal(one.sizes, other.sizes)
    return False


def by_row_number(table: Table) -> Table:
    """Return the table in the order of its source row numbers."""
    return table.take(np.argsort(table.rows, kind="stable"))
