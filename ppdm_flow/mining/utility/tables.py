"""Marginal tables of coded columns, and how far the two sides are apart in each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations, islice

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.utility.coding import CodedColumn
from ppdm_flow.mining.utility.numbers import quantiles
from ppdm_flow.tables.numeric.column import NumericColumn

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

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
