"""Minimal unique column combinations of up to three columns, and combinations under which many rows are alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

from ppdm_flow.mining.uniques.measure import CodedColumns, Combination

BUDGET = 1_000_000_000
"""Rows that a search looks at, over all combinations: some four seconds on one core."""

_HALF = 0.5
_LISTED = 200_000
"""Combinations that are listed at a level, before those that cannot be unique or telling are left out."""


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
