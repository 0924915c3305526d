"""Released rows beside their originals as a relation for SQL, made where the rows are when it is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from ppdm_flow.sdk.view import PairedView
from ppdm_flow.tables.column import SUPPRESSED_TEXT, Column
from ppdm_flow.tables.counts import Counts, count, merge, weights_of
from ppdm_flow.tables.numeric.column import NumericColumn
from ppdm_flow.tables.table import Table

_GATHER = 8
WEIGHT = "n"
"""What a column of weights is called beside others."""


def side_by_side(
    pairs: PairedView, original: Sequence[str], released: Sequence[str], names: Sequence[str], weight: str | None
) -> Iterator[Table]:
    """Yield partitions with original and released columns under ``names``, and the released ``weight`` as ``n``."""
    wanted = list(dict.fromkeys((*released, *([] if weight is None else [weight]))))
    for left, right in pairs.pairs(list(dict.fromkeys(original)), wanted):
        cells = dict(zip(names, (*(left[c] for c in original), *(right[c] for c in released)), strict=True))
        yield Table(cells if weight is None else {**cells, WEIGHT: right[weight]}, right.rows)


def pair_counts(
    pairs: PairedView, original: Sequence[str], released: Sequence[str], names: Sequence[str], weight: str | None
) -> Counts:
    """Count the combinations of original values and released cells, a partition at a time."""
    waiting = [count(Table.of({name: [] for name in names}), names)]
    for table in side_by_side(pairs, original, released, names, weight):
        waiting.append(count(table, names, weight and WEIGHT))
        if len(waiting) >= _GATHER:
            waiting = [merge(waiting)]
    return merge(waiting)


def names_of(released: Sequence[str], original: Sequence[str]) -> list[str]:
    """Return what :func:`paired_tables` calls these columns."""
    return [*(f"r{i}" for i in range(len(released))), *(f"o{i}" for i in range(len(original)))]


def originals_first(released: Sequence[str], original: Sequence[str]) -> list[str]:
    """Return the same names, those of original columns first."""
    names = names_of(released, original)
    return [*names[len(released) :], *names[: len(released)]]


def paired_tables(
    pairs: PairedView, released: Sequence[str], original: Sequence[str], weight: str | None
) -> Iterator[Table]:
    """Yield partitions with the columns r0, r1, … (released) and o0, o1, … (original), and ``n`` for a weight."""
    order = [*names_of(released, original), *([] if weight is None else [WEIGHT])]
    for table in side_by_side(pairs, original, released, originals_first(released, original), weight):
        yield table.select(order)


@dataclass(frozen=True)
class PairedRelation:
    """The rows as texts, columns as :func:`paired_tables` names them.

    ``n`` is how many rows each counts, ``row`` its number in the source.
    """

    pairs: PairedView
    released: tuple[str, ...]
    original: tuple[str, ...]
    weight: str | None

    @property
    def schema(self) -> pa.Schema:
        """The columns."""
        names = names_of(self.released, self.original)
        return pa.schema([*((name, pa.string()) for name in names), (WEIGHT, pa.int64()), ("row", pa.int64())])

    @cached_property
    def table(self) -> pa.Table:
        """All rows."""
        return self.gathered(lambda _held: None)

    def gathered(self, look: Callable[[int], None]) -> pa.Table:
        """Return all rows; ``look`` gets the number of bytes so far, and may raise."""
        batches, nbytes = [], 0
        for batch in self.batches_of(self.pairs):
            batches.append(batch)
            nbytes += batch.nbytes
            look(nbytes)
        return pa.Table.from_batches(batches, self.schema)

    def batches_of(self, pairs: PairedView) -> Iterator[pa.RecordBatch]:
        """Yield the rows of ``pairs``: these, or those of one fragment."""
        names, schema = names_of(self.released, self.original), self.schema
        for table in paired_tables(pairs, self.released, self.original, self.weight):
            rows = np.ones(len(table), dtype=np.int64) if self.weight is None else weights_of(table[WEIGHT])
            arrays = [*(cells_of(table[name]) for name in names), pa.array(rows), pa.array(table.rows)]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def cells_of(column: Column) -> pa.Array:
    """Return a column as texts, null for a missing value."""
    if isinstance(column, NumericColumn):
        return column.texts_by_row()
    known = pa.concat_arrays([pa.array([SUPPRESSED_TEXT, None], pa.string()), column.categories.cast(pa.string())])
    return known.take(pa.array(column.dense))
