"""The columns that hold numbers in the original and in the release, and their cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.utility.coding import released_numbers
from ppdm_flow.mining.utility.numbers import NumericCells, mean_and_deviation
from ppdm_flow.mining.utility.sides import UtilitySide, half, halves, side
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.counts import weights_of
from ppdm_flow.tables.numeric.column import NumericColumn
from ppdm_flow.tables.table import Table

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class GatheredColumns:
    """``columns`` of numbers as released, their ``sources``, and their cells ``before`` and ``after``.

    ``halves`` are those of the original, ``deviations`` (columns,) its standard deviations. ``labels`` are columns of
    numbers of which the release has labels. ``sample`` is given where not all rows are here. ``weight`` is the
    original's column of weights, ``rows`` are all that the release has.
    """

    columns: tuple[str, ...]
    sources: tuple[str, ...]
    before: NumericCells
    after: NumericCells
    halves: tuple[NumericCells, NumericCells]
    deviations: Floats
    labels: tuple[str, ...]
    sample: int | None
    weight: str | None
    rows: int


def gather(
    original: DataView, candidate: DataView, ctx: AuditContext, pairs: Sequence[tuple[str, str]], limit: int
) -> GatheredColumns:
    """Read at most ``limit`` rows of each side."""
    before, after = side(original, [s for _, s in pairs], limit), side(candidate, [c for c, _ in pairs], limit)
    known = [(c, s) for c, s in pairs if isinstance(before[s], NumericColumn)]
    read = {c: released_numbers(before[s], after[c], c, ctx) for c, s in known}
    after = UtilitySide(after.table.replaced(read), after.weights, after.sample)
    both = [(c, s) for c, s in known if isinstance(after[c], NumericColumn)]
    columns, sources = tuple(c for c, _ in both), tuple(s for _, s in both)
    labels = tuple(c for c, _ in known if c not in columns)
    mine = _cells(before, sources)
    parts = halves(before, half(original, ctx))
    deviations = np.array([mean_and_deviation(*mine.present(i))[1] for i in range(len(columns))])
    return GatheredColumns(
        columns,
        sources,
        mine,
        _cells(after, columns),
        (_cells(parts[0], sources), _cells(parts[1], sources)),
        deviations,
        labels,
        before.sample or after.sample,
        original.schema.weight,
        candidate.row_count,
    )


def linked(ctx: AuditContext, gathered: GatheredColumns, limit: int) -> tuple[Floats, Floats, Floats] | None:
    """Return the cells before and after of the same people, and their weights; None where rows cannot be paired.

    Of at most about ``limit`` rows, evenly spaced.
    """
    if ctx.pairs is None:
        return None
    weight = gathered.weight
    wanted = [*dict.fromkeys(gathered.sources), *([weight] if weight else [])]
    step = max(1, -(-gathered.rows // limit))
    before, after, weights = [np.zeros((0, len(gathered.columns)))], [np.zeros((0, len(gathered.columns)))], []
    for mine, theirs in ctx.pairs.pairs(wanted, gathered.columns):
        rows = slice(None, None, step)
        both = zip(gathered.columns, gathered.sources, strict=True)
        read = {c: released_numbers(mine[s], theirs[c], c, ctx) for c, s in both}
        before.append(_floats(mine, gathered.sources)[rows])
        after.append(_floats(theirs.replaced(read), gathered.columns)[rows])
        weights.append((weights_of(mine[weight]).astype(np.float64) if weight else np.ones(len(mine)))[rows])
    return np.concatenate(before), np.concatenate(after), np.concatenate([np.zeros(0), *weights])


def _cells(rows: UtilitySide, columns: Sequence[str]) -> NumericCells:
    return NumericCells(_floats(rows.table, columns), rows.weights)


def _floats(table: Table, columns: Sequence[str]) -> Floats:
    numbers = [_numbers(table[name]) for name in columns]
    return np.stack(numbers, axis=1) if numbers else np.zeros((len(table), 0))


def _numbers(column: Column) -> Floats:
    """Return the cells; NaN for all where a part of the table has labels (all of its cells may be suppressed)."""
    return column.floats() if isinstance(column, NumericColumn) else np.full(len(column), np.nan)
