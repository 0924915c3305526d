"""Minimal unique column combinations of up to three columns, and combinations under which many rows are alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
import numpy.typing as npt

from ppdm_flow.sdk.compiled import compiled

BUDGET = 1_000_000_000
"""Rows that a search looks at, over all combinations: some four seconds on one core."""

_HALF = 0.5
_LISTED = 200_000
"""Combinations that are listed at a level, before those that cannot be unique or telling are left out."""
Codes = npt.NDArray[np.int32]
Combination = tuple[int, ...]
Keys = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class LonelyRows:
    """``share`` of the rows that have a combination of values of ``columns`` that no other row has."""

    columns: Combination
    share: float


@dataclass(frozen=True, slots=True)
class MinimalUniques:
    """``minimal`` combinations tell every row from every other, and no part of them does.

    ``telling`` are combinations that do not, by the share of rows that are alone, most first: for each size the
    worst, exact, without those that only add columns to one that tells half of the rows already. ``left_out`` is how
    many combinations the budget did not let the search look at; then there may be more of both.
    """

    minimal: tuple[Combination, ...]
    telling: tuple[LonelyRows, ...]
    looked_at: int
    left_out: int


def search(
    ground: CodedColumns,
    columns: Sequence[int],
    size: int = 3,
    *,
    budget: int = BUDGET,
    most: int = 3,
    least: float = 0.01,
) -> MinimalUniques:
    """Look through all combinations of up to ``size`` of the ``columns``, level by level.

    Supersets of a unique combination are not looked at: they are unique, and not minimal (level-wise pruning: Sismanis,
    Brown, Haas, Reinwald, GORDIAN, VLDB 2006; Heise and others, DUCC, PVLDB 2013). Nor are those with too few possible
    values for ``least`` of the rows to be alone, or columns of one value.

    Parameters
    ----------
    ground
        The coded table.
    columns
        Which of its columns to combine.
    size
        From 1 to 3.
    budget
        Rows to look at, over all combinations. Those with most possible values come first.
    most
        How many ``telling`` combinations to return for each size.
    least
        The share of rows, above 0 and at most 1, that must be alone for a combination to be told.
    """
    return _Search(ground, budget, most, least).run([c for c in columns if ground.widths[c] > 1], size)


class _Search:
    def __init__(self, ground: CodedColumns, budget: int, most: int, least: float) -> None:
        self._ground = ground
        self._left = budget // max(1, ground.rows)
        self._most = most
        self._least = max(1.0, least * ground.rows)
        self._minimal: list[Combination] = []
        self._telling: list[LonelyRows] = []
        self._looked_at = self._left_out = 0

    def run(self, columns: Sequence[int], size: int) -> MinimalUniques:
        rows = self._ground.rows
        for level in range(1, min(size, len(columns)) + 1) if rows > 1 else ():
            self._level(self._candidates(columns, level))
        telling = sorted(self._telling, key=lambda a: (-a.share, len(a.columns), a.columns))
        return MinimalUniques(tuple(self._minimal), tuple(telling), self._looked_at, self._left_out)

    def _candidates(self, columns: Sequence[int], level: int) -> list[Combination]:
        """Return what can be unique or telling at this level, the most values first, as far as the budget goes."""
        minimal = set(self._minimal)
        wide = self._widest(columns, level)
        self._left_out += comb(len(columns), level) - comb(len(wide), level)
        candidates = [c for c in self._possible(wide, level) if minimal.isdisjoint(_parts(c))]
        candidates.sort(key=lambda c: (-self._ground.possible(c), c))
        kept = candidates[: self._left]
        self._left -= len(kept)
        self._looked_at += len(kept)
        self._left_out += len(candidates) - len(kept)
        return kept

    def _widest(self, columns: Sequence[int], level: int) -> list[int]:
        """Return so many columns that their combinations can be listed: those with most values, in their order."""
        size = len(columns)
        while comb(size, level) > _LISTED:
            size -= 1
        return sorted(sorted(columns, key=lambda c: (-self._ground.widths[c], c))[:size])

    def _possible(self, columns: Sequence[int], level: int) -> Iterator[Combination]:
        return (c for c in combinations(columns, level) if self._ground.possible(c) >= self._least)

    def _level(self, candidates: Sequence[Combination]) -> None:
        estimates: list[LonelyRows] = []
        unique: list[Combination] = []
        for columns in candidates:
            share, all_alone = self._ground.estimate(columns)
            if all_alone and self._ground.alone(columns) == self._ground.rows:
                unique.append(columns)
            else:
                estimates.append(LonelyRows(columns, share))
        self._minimal += sorted(unique)
        worse = self._worse()
        news = [a for a in estimates if worse.isdisjoint(_parts(a.columns))]
        worst = sorted(news, key=lambda a: (-a.share, a.columns))[: self._most]
        exact = (LonelyRows(a.columns, self._ground.alone(a.columns) / self._ground.rows) for a in worst)
        self._telling += [a for a in exact if a.share * self._ground.rows >= self._least]

    def _worse(self) -> set[Combination]:
        """Return what tells most rows already: with more columns that is no news."""
        return {a.columns for a in self._telling if a.share >= _HALF}


def _parts(columns: Combination) -> Iterator[Combination]:
    """Yield the combinations of fewer of these columns."""
    return (part for size in range(1, len(columns)) for part in combinations(columns, size))


# How many rows are alone under a combination: exactly, or from a share of the combinations.


_ROWS = 1 << 16
_KEY_LIMIT = 1 << 62
_MOST = 3


@compiled
def sampled(first: Codes, second: Codes, third: Codes, widths: Keys, bits: int) -> Keys:
    """Return the mixed-radix keys of those rows whose key hashes into one of 2^bits parts; 0 bits keep all.

    Rows of one combination are kept or left out together. ``widths`` are those of the second and third column.
    """
    n = len(first)
    out = np.empty(n, dtype=np.int64)
    count = 0
    for i in range(n):
        key = (np.int64(first[i]) * widths[0] + second[i]) * widths[1] + third[i]
        # Fibonacci hashing: the upper bits of a product with an odd constant
        mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
        mixed *= np.uint64(0xBF58476D1CE4E5B9)
        out[count] = key
        if bits == 0 or (mixed >> np.uint64(64 - bits)) == 0:
            count += 1
    return out[:count]


@compiled
def alone(keys: Keys) -> int:
    """Count the keys that occur once, by open addressing."""
    size = 16
    while size < 2 * len(keys):
        size *= 2
    mask = size - 1
    slots = np.full(size, -1, dtype=np.int64)
    repeated = np.zeros(size, dtype=np.bool_)
    single = 0
    for i in range(len(keys)):
        key = keys[i]
        h = key ^ (key >> 32)
        h = (h * -7046029254386353131) & 0x7FFFFFFFFFFFFFFF
        at = (h >> 20) & mask
        while slots[at] >= 0 and slots[at] != key:
            at = (at + 1) & mask
        if slots[at] < 0:
            slots[at] = key
            single += 1
        elif not repeated[at]:
            repeated[at] = True
            single -= 1
    return single


@dataclass(frozen=True, slots=True, eq=False)
class CodedColumns:
    """``codes`` of each column, int32 (rows,), from 0 up to its ``widths``; missing values have a code like others.

    Raises ValueError where columns differ in length, or a combination of three has too many possible keys.
    """

    codes: Sequence[Codes]
    widths: Sequence[int]

    def __post_init__(self) -> None:
        if len({len(c) for c in self.codes}) > 1 or len(self.codes) != len(self.widths):
            raise ValueError("codes must be columns of one length, and widths must have one entry per column")

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.codes[0]) if len(self.codes) else 0

    def possible(self, columns: Combination) -> int:
        """Return how many combinations of values there could be."""
        number = 1
        for column in columns:
            number *= int(self.widths[column])
        return number

    def keys(self, columns: Combination, bits: int = 0) -> npt.NDArray[np.int64]:
        """Return the keys of the rows in the first of 2^bits parts of all combinations."""
        if not 1 <= len(columns) <= _MOST:
            raise ValueError(f"keys need from 1 to {_MOST} columns, got {len(columns)}")
        codes, widths = [self.codes[c] for c in columns], [int(self.widths[c]) for c in columns]
        if self.possible(columns) >= _KEY_LIMIT:
            codes, widths = _narrower(codes, widths)
        while len(codes) < _MOST:
            codes.append(np.zeros(self.rows, dtype=np.int32))
            widths.append(1)
        return sampled(codes[0], codes[1], codes[2], np.array(widths[1:], dtype=np.int64), bits)

    def alone(self, columns: Combination) -> int:
        """Return how many rows have a combination of values that no other row has."""
        if len(columns) == 1:
            return int((np.bincount(self.codes[columns[0]], minlength=1) == 1).sum())
        return alone(self.keys(columns))

    def estimate(self, columns: Combination) -> tuple[float, bool]:
        """Return the share of rows that are alone, estimated, and whether all rows that were looked at are.

        Looked at are the rows of a pseudo-random share of the combinations, about 65,000 rows or all (distinct
        sampling: Gibbons, VLDB 2001). The standard error of a share p is below sqrt(p / 65,000).
        """
        bits = max(0, (self.rows // _ROWS).bit_length() - 1)
        keys = self.keys(columns, bits)
        single = alone(keys)
        return min(1.0, single * (1 << bits) / max(1, self.rows)), single == len(keys)


def _narrower(codes: list[Codes], widths: list[int]) -> tuple[list[Codes], list[int]]:
    """Number the pairs of the first two columns that occur: no more than there are rows."""
    pairs = codes[0].astype(np.int64) * widths[1] + codes[1]
    distinct, numbers = np.unique(pairs, return_inverse=True)
    return [numbers.astype(np.int32), *codes[2:]], [len(distinct), *widths[2:]]
