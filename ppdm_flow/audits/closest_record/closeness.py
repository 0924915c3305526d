"""Distances of released records to the closest original one, and which group that one is of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

from ppdm_flow.audits.records.distances import nearest
from ppdm_flow.audits.records.gathering import Integers, Records, distinct
from ppdm_flow.audits.records.proportions import LEVEL, one_sided, wilson

Floats = npt.NDArray[np.float64]

KEY = 20071


@dataclass(frozen=True, slots=True, eq=False)
class Distances:
    """``each`` (distinct,) distance to the closest record, in attributes of ``columns``, of ``weights`` rows each.

    ``where`` (distinct,) is the position of that record.
    """

    each: Floats
    weights: Integers
    where: Integers
    columns: int

    @property
    def size(self) -> int:
        """The number of released rows."""
        return int(self.weights.sum())

    def quantile(self, share: float) -> tuple[float, tuple[float, float]]:
        """Return a quantile as a share of the attributes, and its 95 % interval by order statistics."""
        low, high = stats.binom.interval(LEVEL, self.size, share)
        ranks = np.clip([np.ceil(share * self.size), low, high + 1], 1, self.size)
        order = np.argsort(self.each, kind="stable")
        at = np.searchsorted(np.cumsum(self.weights[order]), ranks)
        value, *ends = (self.each[order][at] / self.columns).tolist()
        return value, (ends[0], ends[1])

    @property
    def copies(self) -> tuple[float, tuple[float, float]]:
        """The share of released rows at distance 0, with its interval."""
        share = float(self.weights[self.each == 0].sum()) / self.size
        return share, wilson(share, self.size)


@dataclass(frozen=True, slots=True, eq=False)
class Closeness:
    """``share`` of released rows closer to one of ``size`` training rows than to as many held-out ones.

    Rows that have the same closest record stand or fall together, so ``independent`` is as many independent rows as
    would vary as much if nothing was memorized.
    """

    training: Distances
    holdout: Distances
    size: int
    share: float
    independent: float

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the share."""
        return wilson(self.share, self.independent)

    @property
    def alarming(self) -> bool:
        """Whether so large a share would be too rare if nothing was memorized."""
        return wilson(self.share, self.independent, one_sided())[0] > 0.5


def distances(released: Records, reference: Records, columns: int) -> Distances:
    """Return how close the reference comes to each distinct released row."""
    every = range(columns)
    mine, copies, _ = distinct(released.cells)
    theirs, _, _ = distinct(reference.cells)
    each, where = nearest(released.take(mine).points(every), reference.take(theirs).points(every))
    return Distances(each, copies, theirs[where], columns)


def closeness(released: Records, training: Records, holdout: Records, columns: int) -> Closeness:
    """Compare with as many training rows as held-out ones; which ones is drawn with a fixed key."""
    size = min(len(training), len(holdout))
    known, other = _some(training, size), _some(holdout, size)
    near, far = distances(released, known, columns), distances(released, other, columns)
    rows = near.weights
    closer, tied = near.each < far.each, near.each == far.each
    share = float((rows * (closer + 0.5 * tied)).sum() / rows.sum())
    owner = np.where(closer, near.where, size + far.where)[~tied]
    together = np.bincount(owner, weights=rows[~tied]) if len(owner) else np.zeros(1)
    spread = float((together**2).sum())
    return Closeness(near, far, size, share, float(rows.sum()) ** 2 / spread if spread else float(rows.sum()))


def _some(records: Records, size: int) -> Records:
    if len(records) == size:
        return records
    return records.take(np.sort(np.random.default_rng(KEY).permutation(len(records))[:size]))
