"""Original and release as databases over one alphabet, for comparing itemsets and code tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.audits.records.columns import ColumnPair
from ppdm_flow.audits.records.intervals import labelled
from ppdm_flow.audits.records.sampling import sampled
from ppdm_flow.mining.comparison import united
from ppdm_flow.mining.itemsets.database import ItemDatabase
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import Column, union
from ppdm_flow.tables.counts import Counts, count


@dataclass(frozen=True, slots=True, eq=False)
class Databases:
    """``original`` and ``released`` share their items; ``available`` are the rows that the original has.

    ``sample`` is the most rows of a side, where one has more; None where all rows are here.
    """

    original: ItemDatabase
    released: ItemDatabase
    available: int
    sample: int | None


def databases(original: DataView, candidate: DataView, columns: Sequence[ColumnPair], limit: int) -> Databases | None:
    """Read at most ``limit`` rows of each side; None where one has none.

    A number is the interval that the policy declares for its attribute, where it declares some; missing and suppressed
    cells are values.
    """
    before, rows = _counted(original, [c.source for c in columns], limit)
    after, others = _counted(candidate, [c.column for c in columns], limit)
    if before.total == 0 or after.total == 0:
        return None
    both = united([_recoded(before, columns), _recoded(after, columns)])
    mine, theirs = both.databases
    return Databases(mine, theirs, rows, limit if max(rows, others) > limit else None)


def class_databases(
    original: DataView, columns: Sequence[ColumnPair], target: str, limit: int, most: int
) -> tuple[ItemDatabase, ...]:
    """Return the original's rows by their value of ``target``, over one alphabet without it.

    At most ``limit`` rows are read. These are the ``most`` frequent classes at the most, and none of one row alone.
    """
    own = [each for each in columns if each.source != target]
    if not own:
        return ()
    counts, _ = _counted(original, [*(each.source for each in own), target], limit)
    place = counts.place(target)
    classes, number = np.unique(counts.codes[:, place], return_inverse=True)
    rows = np.bincount(number.ravel(), counts.counts, len(classes))
    chosen = [c for c in np.argsort(-rows, kind="stable")[:most].tolist() if rows[c] > 1]
    parts = [_recoded(_without(counts, number.ravel() == c, len(own)), own) for c in chosen]
    return united(parts).databases if parts else ()


def _without(counts: Counts, kept: npt.NDArray[np.bool_], width: int) -> Counts:
    """Return some combinations of the first ``width`` columns."""
    return Counts(counts.columns[:width], counts.categories[:width], counts.codes[kept, :width], counts.counts[kept])


def _counted(view: DataView, columns: Sequence[str], limit: int) -> tuple[Counts, int]:
    """Count the distinct rows, of a sample where there are more rows than that; and say how many there are."""
    if view.row_count <= limit:
        counts = view.counts(columns)
        if counts.total <= limit:
            return _occurring(counts), counts.total
    sample = sampled(view, columns, limit)
    return count(sample.table, columns), sample.available


def _occurring(counts: Counts) -> Counts:
    kept = counts.counts > 0
    return Counts(counts.columns, counts.categories, counts.codes[kept], counts.counts[kept])


def _recoded(counts: Counts, columns: Sequence[ColumnPair]) -> Counts:
    if not any(c.edges for c in columns):
        return counts
    codes, categories = counts.codes.copy(), list(counts.categories)
    for i, beside in enumerate(columns):
        if beside.edges:
            column = labelled(Column(np.ascontiguousarray(codes[:, i]), categories[i]), beside.edges)
            names: pa.StringArray = union([column.categories])
            codes[:, i], categories[i] = column.onto(names).codes, names
    return Counts(counts.columns, tuple(categories), codes, counts.counts).project(counts.columns)
