"""Which values of a secret each class of a release holds, and how often."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy.special import gammaln

from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.counts import Counts

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Truths = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class ClassValues:
    """Entries are (class, value) with ``rows`` each, sorted by class, the most frequent value first.

    ``sizes`` (classes,) counts all rows, ``blank`` those whose secret is missing or suppressed: they may have any
    value. ``rank`` is the place of an entry within its class, from 0.
    """

    group: Integers
    codes: Integers
    rows: Integers
    rank: Integers
    sizes: Integers
    blank: Integers
    names: pa.StringArray
    unit: str = "rows"

    @property
    def total(self) -> int:
        """The released rows."""
        return int(self.sizes.sum())

    @property
    def told(self) -> str:
        """What a figure's note says of linked rows: nothing, where rows are counted."""
        return ""

    @property
    def kinds(self) -> Integers:
        """How many values each class has."""
        return np.bincount(self.group, minlength=len(self.sizes)).astype(np.int64)

    def certain(self, excluded: int = 0) -> Truths:
        """Which classes have one value at most beside ``excluded`` others: whoever rules these out knows it."""
        certain: Truths = (self.blank == 0) & (self.kinds >= 1) & (self.kinds <= excluded + 1)
        return certain

    def rows_of(self, chosen: Truths) -> int:
        """Return the rows in these classes."""
        return int(self.sizes[chosen].sum())

    def found(self, excluded: int = 0) -> int:
        """Return the rows whose value is certain to someone who rules out so many others."""
        return self.rows_of(self.certain(excluded))

    @property
    def certain_classes(self) -> Integers:
        """The rows of each class whose value is certain."""
        return self.sizes[self.certain()]

    def worst_posterior(self, excluded: int = 0) -> float | None:
        """Return the highest probability of a value once the ``excluded`` most frequent others are ruled out.

        That is n_v / (n - n_1 - … - n_L), with the L largest of the others (Martin et al. 2007, negated atoms).
        """
        if len(self.rows) == 0:
            return None
        first = np.searchsorted(self.group, np.arange(len(self.sizes)))
        sums = np.concatenate([[0], np.cumsum(self.rows)])
        last = np.append(first[1:], len(self.rows))
        within = self.rank < excluded  # such a value is not ruled out itself: the next one is, in its place
        until = np.minimum(first[self.group] + excluded + within, last[self.group])
        others = sums[until] - sums[first[self.group]] - np.where(within, self.rows, 0)
        posterior: Floats = self.rows / (self.sizes[self.group] - others)
        return float(posterior.max())

    def certain_by_chance(self) -> float | None:
        """Return the share of rows in classes of one value that is expected if the values are dealt to the rows."""
        known = self.known
        if self.total == 0 or len(known) == 0:
            return None
        sizes, many = np.unique(self.sizes, return_counts=True)
        alike = np.array([float(np.exp(dealt(known, size, self.total)).sum()) for size in sizes])
        return float((alike * sizes * many).sum() / self.total)

    @property
    def known(self) -> Integers:
        """The rows of each value that occurs, in all classes together."""
        rows = np.bincount(self.codes, self.rows).astype(np.int64)
        return rows[rows > 0]


def dealt(alike: npt.NDArray[np.integer], rows: npt.ArrayLike, total: int) -> Floats:
    """Return the logarithm of the chance that so many rows all get one of ``alike`` of ``total`` cells.

    The cells are dealt without replacement: C(alike, rows) / C(total, rows). ``alike`` and ``rows`` are broadcast.
    """
    left = np.subtract(alike, rows)
    chance = gammaln(alike + 1) - gammaln(np.maximum(left, 0) + 1) - gammaln(total + 1)
    return np.where(left >= 0, chance + gammaln(total - np.asarray(rows) + 1), -np.inf)


def holdings(candidate: DataView, columns: Sequence[str], secret: str) -> ClassValues:
    """Count a secret within the classes over ``columns``; missing and suppressed cells there are values."""
    return holdings_of(candidate.counts((*columns, secret)), columns, secret)


def holdings_of(counts: Counts, columns: Sequence[str], secret: str) -> ClassValues:
    """Read counts over ``columns`` and the secret."""
    kept = counts.counts > 0
    counts = Counts(counts.columns, counts.categories, counts.codes[kept], counts.counts[kept])
    group, number = counts.groups(tuple(columns))
    codes, rows = counts.of(secret).astype(np.int64), counts.counts
    sizes, blank = np.zeros(number, dtype=np.int64), np.zeros(number, dtype=np.int64)
    np.add.at(sizes, group, rows)
    np.add.at(blank, group[codes < 0], rows[codes < 0])
    shown = np.flatnonzero(codes >= 0)
    order = shown[np.lexsort((codes[shown], -rows[shown], group[shown]))]
    mine = group[order].astype(np.int64)
    rank = np.arange(len(order)) - np.searchsorted(mine, mine)
    return ClassValues(mine, codes[order], rows[order], rank, sizes, blank, counts.names(secret))
