"""Whether two tables have one order: rows that fit at the same place, and places that go together.

If the rows are shuffled, every permutation is as likely. The number of places at which the rows fit then has the mean
n p, with p the share of all pairs that fit, and a variance of at most n p n / (n - 1) (Hoeffding 1951, theorem 2): its
upper tail is taken from the Poisson distribution. The correlation of places has the variance 1 / (m - 1) exactly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from scipy import stats

from ppdm_flow.audits.unsorted_matching.sides import OrderedColumn
from ppdm_flow.tables.column import Column, union
from ppdm_flow.tables.counts import Counts

Integers = npt.NDArray[np.int64]

FEWEST = 10
"""Rows below which a correlation is no evidence."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """At ``places`` of ``rows`` places the rows fit in ``column``; ``expected`` if the order is random."""

    column: str
    places: int
    rows: int
    expected: float

    @property
    def p_value(self) -> float:
        """The probability of at least as many in a random order."""
        return float(stats.poisson.sf(self.places - 1, self.expected))


@dataclass(frozen=True, slots=True)
class Correlation:
    """``value`` of the places of ``rows`` released rows with the mean places of the other rows that are the same."""

    value: float
    rows: int

    @property
    def p_value(self) -> float:
        """The probability of one as far from 0 in a random order."""
        return float(2 * stats.norm.sf(abs(self.value) * math.sqrt(self.rows - 1)))

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval (Fisher's transformation)."""
        if abs(self.value) >= 1:
            return self.value, self.value
        reach = stats.norm.ppf(0.975) / math.sqrt(self.rows - 3)
        middle = math.atanh(self.value)
        return math.tanh(middle - reach), math.tanh(middle + reach)


def agreements(columns: Sequence[OrderedColumn]) -> list[Agreement]:
    """Return how the rows fit, column by column; none for tables of different length or without rows."""
    rows = len(columns[0].mine)
    if rows != len(columns[0].other) or rows < FEWEST:
        return []
    return [Agreement(c.name, int(c.agree().sum()), rows, rows * c.by_chance) for c in columns]


def correlation(columns: Sequence[OrderedColumn]) -> Correlation | None:
    """Compare the place of each released row with the mean place of the same rows in the other table.

    Columns that have values in common are compared as they are written. None where too few rows come again, or where
    all rows are the same.
    """
    shared = [c for c in columns if _in_common(c)]
    if not shared:
        return None
    group, number = _groups(shared)
    size = len(shared[0].mine)
    mine, other = group[:size], group[size:]
    many = np.bincount(other, minlength=number)
    sums = np.bincount(other, np.arange(len(other)), number)
    again = np.flatnonzero(many[mine] > 0)
    if len(again) < FEWEST:
        return None
    expected = sums[mine[again]] / many[mine[again]]
    if np.ptp(expected) == 0:
        return None
    coefficient = np.corrcoef(expected, again)[0, 1]
    return Correlation(float(min(1.0, max(-1.0, coefficient))), len(again))


def _in_common(column: OrderedColumn) -> bool:
    """Whether at least half of the released rows have a value that the other table has."""
    found = pc.is_in(column.mine.categories, value_set=column.other.categories)
    there = found.to_numpy(zero_copy_only=False).astype(np.bool_)
    known = column.mine.codes >= 0
    return bool(len(there) and there[column.mine.codes[known]].sum() * 2 >= len(column.mine))


def _groups(columns: Sequence[OrderedColumn]) -> tuple[Integers, int]:
    """Number the rows of both tables, the release first, by their cells."""
    names = tuple(union([c.mine.categories, c.other.categories]) for c in columns)
    codes = [
        np.concatenate([_onto(c.mine, known), _onto(c.other, known)]) for c, known in zip(columns, names, strict=True)
    ]
    ones = np.ones(len(codes[0]), dtype=np.int64)
    keys = tuple(str(i) for i in range(len(columns)))
    return Counts(keys, names, np.stack(codes, axis=1), ones).groups(keys)


def _onto(column: Column, names: pa.StringArray) -> npt.NDArray[np.int32]:
    return column.onto(names).codes
