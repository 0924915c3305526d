"""Columns of original and release, made comparable: as numbers, or as values of one list at the released level."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, islice

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.attributes import Change
from ppdm_flow.core.roles import AttributeType
from ppdm_flow.mining.utility.numbers import quantiles
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.tables.column import SPECIALS, SUPPRESSED, Column, union
from ppdm_flow.tables.counts import Counts
from ppdm_flow.tables.numeric.column import NumericColumn, floats_of_texts
from ppdm_flow.tables.table import Table

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class CodedColumn:
    """A released column ``name`` beside its source: both numbers, or both coded over the same categories."""

    name: str
    before: Column
    after: Column

    @property
    def numeric(self) -> bool:
        """Whether both sides hold numbers."""
        return isinstance(self.before, NumericColumn) and isinstance(self.after, NumericColumn)


def compared(
    before: Table, after: Table, pairs: tuple[tuple[str, str], ...], ctx: AuditContext
) -> tuple[tuple[CodedColumn, ...], tuple[str, ...]]:
    """Return the columns that can be compared, and the names of those that cannot.

    ``pairs`` are (released, source) names. A recoded column is compared at the released level, where each original
    value became one label; so are the bounds of intervals, which are numbers and cover more than themselves. A column
    whose values became several labels each cannot be compared. Nor can one whose recoding is unknown because rows
    cannot be paired.
    """
    columns, others = [], []
    for name, source in pairs:
        mine, theirs = before[source], released_numbers(before[source], after[name], name, ctx)
        recoded = _recoded(name, ctx)
        if recoded or not (isinstance(mine, NumericColumn) and isinstance(theirs, NumericColumn)):
            level: Column | None = mine
            if recoded:
                level = None if ctx.pairs is None else at_released_level(mine, ctx.pairs.joint(source, name))
            elif isinstance(mine, NumericColumn):
                level = None
            if level is None:
                others.append(name)
                continue
            mine, theirs = level.compact(), Column(theirs.codes, theirs.categories).compact()
            names = union((mine.categories, theirs.categories))
            mine, theirs = mine.onto(names), theirs.onto(names)
        columns.append(CodedColumn(name, mine, theirs))
    return tuple(columns), tuple(others)


def released_numbers(original: Column, released: Column, name: str, ctx: AuditContext) -> Column:
    """Return the released cells of a column of numbers as numbers, where all of its labels are; else as they are.

    A step that changes some cells of a column may leave labels: numbers as texts, and suppressed cells, which count as
    missing ones. Labels of generalized columns and pseudonyms mean something else, also where they are numbers.
    """
    if not isinstance(original, NumericColumn) or isinstance(released, NumericColumn):
        return released
    used = released.compact()
    if _recoded(name, ctx) or not len(used.categories):
        return released
    numbers = floats_of_texts(used.categories, original.kind)
    if numbers is None:
        return released
    known = used.codes >= 0
    values = np.zeros(len(used))
    values[known] = numbers[used.codes[known]]
    return NumericColumn(values, AttributeType.FLOAT, ~known)


def _recoded(column: str, ctx: AuditContext) -> bool:
    facts = ctx.attributes.get(column)
    return facts is not None and facts.was(Change.GENERALIZED, Change.PSEUDONYMIZED)


def at_released_level(column: Column, joint: Counts) -> Column | None:
    """Return each original cell as the label that its value became; None where some value became several.

    ``joint`` counts (original, released) cells. A value that was suppressed wherever it occurred, or that no released
    row has, keeps its own name.
    """
    original, released = joint.of("original"), joint.of("released")
    kept = released != SUPPRESSED
    pairs = np.unique(np.stack([original[kept], released[kept]]), axis=1)
    if (np.diff(pairs[0]) == 0).any():
        return None
    mine = Column(column.codes, column.categories)
    names = union((mine.categories, joint.names("original"), joint.names("released")))
    values = Column(pairs[0].astype(np.int32), joint.names("original")).onto(names).codes
    labels = Column(pairs[1].astype(np.int32), joint.names("released")).onto(names).codes
    image = np.arange(-SPECIALS, len(names), dtype=np.int32)
    image[values + SPECIALS] = labels
    return Column(image[mine.onto(names).codes + SPECIALS], names)


# Marginal tables of coded columns, and how far the two sides are apart in each.


INTERVALS = 10
"""A column of numbers counts by so many intervals of about equal share of the original."""


def coded_rows(column: CodedColumn, weights: Floats) -> Integers:
    """Return a code from 0 of each cell, shape (rows before + rows after,); missing and suppressed have their own.

    Numbers count by the interval they are in; ``weights`` (rows before,) are those of the original rows.
    """
    mine, theirs = column.before, column.after
    if isinstance(mine, NumericColumn) and isinstance(theirs, NumericColumn):
        numbers = [mine.floats(), theirs.floats()]
        known = ~np.isnan(numbers[0]) & (weights > 0)
        inner = [i / INTERVALS for i in range(1, INTERVALS)]
        edges = np.unique(quantiles(numbers[0][known], weights[known], inner)) if known.any() else np.zeros(0)
        both = np.concatenate(numbers)
        codes = np.searchsorted(edges, both, side="left") + 1
        codes[np.isnan(both)] = 0
    else:
        codes = np.concatenate([mine.dense, theirs.dense])
    dense: Integers = np.unique(codes, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return dense


def chosen_tables(columns: int, ways: int, most: int) -> list[tuple[int, ...]]:
    """Return the sets of ``ways`` columns to look at: all, or ``most`` of them, evenly spaced in their order."""
    total = math.comb(columns, ways)
    every = combinations(range(columns), ways)
    if total <= most:
        return list(every)
    picked, last = [], -1
    for place in (i * total // most for i in range(most)):
        picked.append(next(islice(every, place - last - 1, None)))
        last = place
    return picked


def total_variations(codes: Sequence[Integers], weights: Floats) -> Floats:
    """Return the total variation distance, in [0, 1], of each two samples that follow each other, shape (samples / 2,).

    ``codes`` are those of the columns of the marginal, each (rows,); ``weights`` (samples, rows) what each row counts
    in each sample. A sample without rows is at distance 1 of one with rows, and 0 of another without.
    """
    cell = codes[0]
    width = int(cell.max(initial=-1)) + 1
    for column in codes[1:]:
        size = int(column.max(initial=-1)) + 1
        cell = cell * size + column
        width *= size
        if width > 4 * len(cell) + 1024:
            cell = np.unique(cell, return_inverse=True)[1].reshape(-1).astype(np.int64)
            width = int(cell.max(initial=-1)) + 1
    shares = [np.bincount(cell, weights=w, minlength=width) / (w.sum() or 1.0) for w in weights]
    apart = [
        0.5 * float(np.abs(a - b).sum()) if a.any() and b.any() else float(a.any() != b.any())
        for a, b in zip(shares[::2], shares[1::2], strict=True)
    ]
    return np.array([min(1.0, distance) for distance in apart])
