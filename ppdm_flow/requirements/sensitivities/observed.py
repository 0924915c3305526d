"""Posteriors counted over (original, released) pairs, beside those that the operator predicts at the data's own prior.

For each bounded value x, and the released value y that by the operator tells most of it: among the rows released as
y, the share whose original is x. Which y is looked at follows from the operator and not from the rows, so the interval
is not one of a largest among many. Exact intervals (Clopper and Pearson 1934), for all values together at the stated
level (Bonferroni); they are exact for rows drawn from a population, and too wide rather than too narrow where the
original table is held fixed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from ppdm_flow.requirements.sensitivities.fit.joint import JointCounts
from ppdm_flow.requirements.sensitivities.posteriors import TellingValues

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]

LEVEL = 0.95
"""The probability that all intervals of a column cover together."""


@dataclass(frozen=True, slots=True, eq=False)
class ObservedHits:
    """``values`` (v,) are places of bounded values; ``hits`` of ``trials`` rows released as the telling value have it.

    ``share`` is nan where there is no such row; ``low`` and ``high`` are the ends of its interval.
    """

    values: Places
    predicted: Floats
    hits: Places
    trials: Places
    low: Floats
    high: Floats

    @property
    def share(self) -> Floats:
        """The measured posteriors, shape (v,)."""
        share: Floats = np.divide(self.hits, self.trials, out=np.full(len(self.trials), np.nan), where=self.trials > 0)
        return share

    @property
    def outside(self) -> int:
        """How many intervals do not cover what is predicted."""
        slack = 1e-12
        return int(((self.predicted < self.low - slack) | (self.predicted > self.high + slack)).sum())

    @property
    def most(self) -> int | None:
        """The position of the value with the highest predicted posterior, if any row shows it."""
        seen = np.flatnonzero(self.trials > 0)
        return int(seen[self.predicted[seen].argmax()]) if len(seen) else None


def observe(worst: TellingValues, joint: JointCounts, values: Places) -> ObservedHits:
    """Count the posteriors of ``values`` over the pairs, after the released values that tell most of them."""
    shown = worst.released[values]
    m = len(worst.released)
    released = np.zeros(m, dtype=np.int64)
    np.add.at(released, joint.released, joint.rows)
    trials = released[shown]
    hits = _found(joint, values * m + shown, m)
    low, high = clopper_pearson(hits, trials, (1.0 - LEVEL) / max(1, len(values)))
    return ObservedHits(values, worst.posterior[values], hits, trials, low, high)


def clopper_pearson(hits: Places, trials: Places, error: float) -> tuple[Floats, Floats]:
    """Return the ends of exact intervals for ``hits`` of ``trials``, each missing with probability at most ``error``.

    >>> [round(float(end[0]), 4) for end in clopper_pearson(np.array([3]), np.array([10]), 0.05)]
    [0.0667, 0.6525]
    """
    some = (hits > 0, hits < trials)
    low, high = np.zeros(len(hits)), np.ones(len(hits))
    low[some[0]] = special.betaincinv(hits[some[0]], trials[some[0]] - hits[some[0]] + 1, error / 2)
    high[some[1]] = special.betainccinv(hits[some[1]] + 1, trials[some[1]] - hits[some[1]], error / 2)
    return low, high


def _found(joint: JointCounts, wanted: Places, size: int) -> Places:
    """Return the rows of the pairs with these keys (original times m plus released)."""
    keys = joint.original * size + joint.released
    order = np.argsort(keys)
    at = np.searchsorted(keys[order], wanted)
    inside = at < len(keys)
    out = np.zeros(len(wanted), dtype=np.int64)
    row = order[at[inside]]
    out[inside] = np.where(keys[row] == wanted[inside], joint.rows[row], 0)
    return out
