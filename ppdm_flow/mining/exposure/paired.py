"""Released rows beside their originals, counted, and as a relation for SQL."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import RunError
from ppdm_flow.sdk.view import DataView, PairedView
from ppdm_flow.tables.column import SUPPRESSED_TEXT, Column
from ppdm_flow.tables.counts import Counts, count, merge, weights_of
from ppdm_flow.tables.numeric.column import NumericColumn
from ppdm_flow.tables.table import Table

_GATHER = 8
_WEIGHT = "n"


def paired_tables(
    pairs: PairedView, released: Sequence[str], original: Sequence[str], weight: str | None
) -> Iterator[Table]:
    """Yield partitions with the columns r0, r1, … (released) and o0, o1, … (original), and ``n`` for a weight."""
    wanted = list(dict.fromkeys((*released, *([] if weight is None else [weight]))))
    for left, right in pairs.pairs(list(dict.fromkeys(original)), wanted):
        cells = {f"r{i}": right[c] for i, c in enumerate(released)} | {f"o{i}": left[c] for i, c in enumerate(original)}
        yield Table(cells | ({} if weight is None else {_WEIGHT: right[weight]}), right.rows)


def names_of(released: Sequence[str], original: Sequence[str]) -> list[str]:
    """Return what :func:`paired_tables` calls these columns."""
    return [*(f"r{i}" for i in range(len(released))), *(f"o{i}" for i in range(len(original)))]


def paired_counts(candidate: DataView, pairs: PairedView, released: Sequence[str], original: Sequence[str]) -> Counts:
    """Count the combinations of released cells and original values over all rows.

    Raises RunError where the paired rows are not those of the file.
    """
    names, weight = names_of(released, original), candidate.schema.weight
    named = None if weight is None else _WEIGHT
    waiting = [count(Table.of({name: [] for name in names}), names)]
    for table in paired_tables(pairs, released, original, weight):
        waiting.append(count(table, names, named))
        if len(waiting) >= _GATHER:
            waiting = [merge(waiting)]
    counts = merge(waiting)
    require_the_file(counts, candidate, released)
    return counts


def require_the_file(counts: Counts, candidate: DataView, released: Sequence[str]) -> None:
    """Hold the released side of paired rows against the file. Raises RunError where they differ."""
    distinct = list(dict.fromkeys(released))
    own = counts.project([f"r{released.index(c)}" for c in distinct])
    there = candidate.counts(distinct)
    if not _same(own, there):
        raise RunError(
            (
                Diagnostic(
                    "PPF836",
                    "the rows that were paired with their originals are not those of the released file",
                    help="a step gave other rows when it was asked again: this is a defect of that step",
                ),
            )
        )


def relation(pairs: PairedView, released: Sequence[str], original: Sequence[str], weight: str | None) -> pa.Table:
    """Return the rows as texts, columns as :func:`paired_tables` names them.

    ``n`` is how many rows each stands for, ``row`` its number in the source.
    """
    names = names_of(released, original)
    schema = pa.schema([*((name, pa.string()) for name in names), (_WEIGHT, pa.int64()), ("row", pa.int64())])
    batches = []
    for table in paired_tables(pairs, released, original, weight):
        rows = np.ones(len(table), dtype=np.int64) if weight is None else weights_of(table[_WEIGHT])
        arrays = [*(cells_of(table[name]) for name in names), pa.array(rows), pa.array(table.rows)]
        batches.append(pa.RecordBatch.from_arrays(arrays, schema=schema))
    return pa.Table.from_batches(batches, schema)


def cells_of(column: Column) -> pa.Array:
    """Return a column as texts, null for a missing value."""
    if isinstance(column, NumericColumn):
        return column.texts_by_row()
    known = pa.concat_arrays([pa.array([SUPPRESSED_TEXT, None], pa.string()), column.categories.cast(pa.string())])
    return known.take(pa.array(column.dense))


def _same(one: Counts, other: Counts) -> bool:
    """Whether both count the same rows, whatever categories they have that do not occur."""
    some, others = one.counts > 0, other.counts > 0
    if not np.array_equal(one.counts[some], other.counts[others]):
        return False
    for i in range(len(one.categories)):
        first = Column(one.codes[some, i], one.categories[i]).compact()
        second = Column(other.codes[others, i], other.categories[i]).compact()
        if not (np.array_equal(first.codes, second.codes) and first.categories.equals(second.categories)):
            return False
    return True
