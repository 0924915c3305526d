"""How alike the tables of two generated columns and of two original ones are: 1 if equal, 0 if nothing is known.

Generated rows have no original, so no cell can be compared with one. What a reader learns of a table of two columns is
measured instead: its total variation distance from the original's, beside that of a table with even shares.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from ppdm_flow.audits.labels.covers import Covers, covers
from ppdm_flow.audits.labels.spread import bins_of, spread
from ppdm_flow.audits.labels.values import SortedNumbers, Values, floats_of, numbers_of, values_of
from ppdm_flow.core.attributes import Change
from ppdm_flow.core.results import Figure
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import MISSING, SPECIALS, Column
from ppdm_flow.tables.counts import weights_of
from ppdm_flow.tables.numeric.column import NumericColumn
from ppdm_flow.tables.table import Table

TOTAL, OF_COLUMN = "pair_likeness", "likeness"
_MOST_VALUES = 20
"""Categories that are looked at by themselves: the most frequent ones; the others are one."""
Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class GeneratedColumn:
    """A generated column beside its original, in cells of values or intervals, the last of which is a missing value.

    ``before`` (rows,) are the cells of the original's rows, ``labels`` (rows,) the labels of released ones, of which
    ``spread`` (labels, cells) says how each is spread over what it covers. ``even`` (cells,) is how a label that covers
    everything is.
    """

    name: str
    before: Integers
    labels: Integers
    spread: Floats
    even: Floats


def likeness(
    pairs: Sequence[tuple[str, str]], original: DataView, candidate: DataView, ctx: AuditContext, rows: int
) -> dict[str, Figure]:
    """Return how alike original and release are, in all and by column; nothing of a release without generated ones.

    ``pairs`` are released columns with their names in the source. At most ``rows`` rows of each side are looked at.
    """
    generated = [(c, s) for c, s in pairs if c in ctx.attributes and ctx.attributes[c].was(Change.GENERATED)]
    if not generated:
        return {}
    before = original.sample(rows, _names([s for _, s in generated], original))
    after = candidate.sample(rows, _names([c for c, _ in generated], candidate))
    every = [
        _column(c, before[s], after[c], values_of(original, s, ctx.original_attributes.get(s)), ctx)
        for c, s in generated
    ]
    columns = [each for each in every if each is not None]
    weights = [_weights(before, original), _weights(after, candidate)]
    ways = min(2, len(columns))
    tables = [*combinations(range(len(columns)), ways)] if ways else []
    apart = np.array([_distances([columns[i] for i in table], *weights) for table in tables]).reshape(-1, 2)
    sample = rows if max(original.row_count, candidate.row_count) > rows else None
    left_out = len(generated) - len(columns)
    note = f"{left_out} of {len(generated)} columns not compared: their labels cannot be read" if left_out else ""
    figures = {TOTAL: _alike(apart, sample, note)}
    for i, column in enumerate(columns):
        figures[f"{column.name}.{OF_COLUMN}"] = _alike(apart[[i in table for table in tables]], sample, "")
    return figures


def _names(names: list[str], view: DataView) -> list[str]:
    weight = view.schema.weight
    return list(dict.fromkeys(names if weight is None else [*names, weight]))


def _weights(table: Table, view: DataView) -> Floats:
    weight = view.schema.weight
    return np.ones(len(table)) if weight is None else weights_of(table[weight]).astype(np.float64)


def _alike(apart: Floats, sample: int | None, note: str) -> Figure:
    """Return 1 - d / e of tables, d (tables, 2) their distances from the original, and e those of even tables."""
    released, even = apart.sum(axis=0)
    if even <= 0:
        return Figure(None, "share", note="not compared: the original is as even as if nothing were known")
    return Figure(float(max(0.0, 1.0 - released / even)), "share", sample=sample, note=note)


def _distances(columns: Sequence[GeneratedColumn], before: Floats, after: Floats) -> tuple[float, float]:
    """Return total variation distances from the original's table: of the release, and of even shares."""
    shares = _table([c.before for c in columns], before, [len(c.even) for c in columns])
    labels = _table([c.labels for c in columns], after, [len(c.spread) for c in columns])
    released, even = labels, np.ones(())
    for axis, column in enumerate(columns):
        released = np.moveaxis(np.tensordot(released, column.spread, axes=(axis, 0)), -1, axis)
        even = np.multiply.outer(even, column.even)
    return 0.5 * float(np.abs(shares - released).sum()), 0.5 * float(np.abs(shares - even).sum())


def _table(codes: Sequence[Integers], weights: Floats, sizes: Sequence[int]) -> Floats:
    flat = np.ravel_multi_index(tuple(codes), tuple(sizes))
    counts = np.bincount(flat, weights=weights, minlength=int(np.prod(sizes))).reshape(sizes)
    shares: Floats = counts / max(1.0, counts.sum())
    return shares


def _column(name: str, before: Column, after: Column, values: Values, ctx: AuditContext) -> GeneratedColumn | None:
    """Return both sides of a column in cells; None where a label cannot be read, or the original has no value."""
    if not len(values.texts):
        return None
    bins = bins_of(values)
    if isinstance(values, SortedNumbers):
        cell_of_value = np.searchsorted(bins, values.values, side="right") - 1
        cells = _cells_of_numbers(before, values, bins)
        widths = np.diff(np.append(bins, values.values[-1]))
        even = widths if len(bins) < len(values.values) and widths.sum() > 0 else np.ones(len(bins))
    else:
        rank = np.argsort(np.argsort(-values.counts[:-1], kind="stable"), kind="stable")
        cell_of_value = np.minimum(rank, _MOST_VALUES)
        cells = np.append(cell_of_value, cell_of_value.max() + 1)[values.places(before)]
        even = np.bincount(cell_of_value).astype(np.float64)
    even = np.append(even / even.sum(), 0.0)
    if isinstance(after, NumericColumn) and isinstance(values, SortedNumbers):
        return GeneratedColumn(name, cells, _cells_of_numbers(after, values, bins), np.eye(len(even)), even)
    read = covers(after.categories, values, name, ctx.attributes.get(name), ctx)
    if read.unreadable:
        return None
    rows = np.stack(
        [even, even, *(_spread(read, i, values, bins, cell_of_value, even) for i in range(len(read.labels)))]
    )
    if values.counts[-1]:
        rows[MISSING + SPECIALS] = np.eye(len(even))[-1]
    return GeneratedColumn(name, cells, after.codes.astype(np.int64) + SPECIALS, rows, even)


def _cells_of_numbers(column: Column, values: SortedNumbers, bins: Floats) -> Integers:
    if isinstance(column, NumericColumn):
        numbers = floats_of(column)
    else:
        by_category = numbers_of(column.categories, values.kind, values.form)
        numbers = np.append(by_category, [np.nan, np.nan])[column.codes]
    cells = np.maximum(np.searchsorted(bins, numbers, side="right") - 1, 0)
    return np.asarray(np.where(np.isnan(numbers), len(bins), cells), dtype=np.int64)


def _spread(read: Covers, label: int, values: Values, bins: Floats, cell_of_value: Integers, even: Floats) -> Floats:
    if read.wide[label]:
        return even
    share = spread(read, label, values, bins)
    if isinstance(values, SortedNumbers):
        return np.append(share, 0.0)
    return np.bincount(cell_of_value, weights=share, minlength=len(even)).astype(np.float64)
