"""Corruption where sensitive values are released as they are, in classes of people who look alike.

The adversary knows who is in a class, its released values, and the true values of c of the others. Within a class of
n rows, n_s of them with value s, the target has s with probability n_s / n; without c others who have other values,
with n_s / (n - c), and certainly where n - n_s <= c. A suppressed or missing cell says nothing of its person, and
counts among the others. Missing and suppressed quasi-identifiers are values of their own: the smallest classes that an
adversary can tell apart.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.tables.counts import Counts

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Beliefs:
    """``rows`` (b,) records whose value gets the posterior ``before``, and ``after`` corruption; of ``total``."""

    rows: Integers
    before: Floats
    after: Floats
    total: int

    def worst(self, which: Floats) -> float | None:
        """Return the highest posterior, None without any."""
        return float(which.max()) if len(which) else None

    def certain(self, which: Floats) -> float | None:
        """Return the share of all records whose value is known for sure, None without records."""
        return float(self.rows[which >= 1.0].sum() / self.total) if self.total else None


def grouped(counts: Counts, classes: tuple[str, ...], sensitive: str, corrupted: int | None) -> Beliefs:
    """Return the beliefs in every (class, value); ``corrupted`` is None for all others. Linear in the combinations."""
    kept = counts.counts > 0
    group, number = counts.groups(classes)
    sizes = np.zeros(number, dtype=np.int64)
    np.add.at(sizes, group[kept], counts.counts[kept])
    shown = kept & (counts.of(sensitive) >= 0)
    own, size = counts.counts[shown], sizes[group[shown]]
    known = size - own if corrupted is None else np.minimum(corrupted, size - own)
    return Beliefs(own, own / size, own / (size - known), int(sizes.sum()))
