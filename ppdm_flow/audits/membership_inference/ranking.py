"""How well scores tell members from others: area under the curve, and what a threshold gains."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

from ppdm_flow.audits.records.proportions import deviate, newcombe

Floats = npt.NDArray[np.float64]

FALSE_POSITIVES = 0.01


@dataclass(frozen=True, slots=True)
class Area:
    """``value``: the probability that a member scores higher than another person, ties half.

    ``error`` is its standard error, ``chance`` what that would be if the scores told nothing.
    """

    value: float
    error: float
    chance: float

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval."""
        reach = deviate() * self.error
        return max(0.0, self.value - reach), min(1.0, self.value + reach)

    def exceeds(self, z: float) -> bool:
        """Whether it lies farther above 1/2 than scores that tell nothing would, at this normal deviate."""
        return self.value - 0.5 > z * max(self.error, self.chance)


def area(members: Floats, others: Floats) -> Area:
    """Return the area under the ROC curve with DeLong's standard error; higher scores speak for membership.

    DeLong, DeLong, Clarke-Pearson, Biometrics 44 (1988), by midranks (Sun, Xu 2014). Perfect separation has an error
    of 0 there; half a person's weight is put in its place. Beside it the error of the Mann-Whitney statistic, with its
    correction for ties, where members are like others.
    """
    m, n = len(members), len(others)
    ranks = stats.rankdata(np.concatenate([members, others]))
    above = (ranks[:m] - stats.rankdata(members)) / n  # share of others below each member
    below = 1 - (ranks[m:] - stats.rankdata(others)) / m
    value = float(above.mean())
    variance = sum(float(v.var(ddof=1)) / len(v) for v in (above, below) if len(v) > 1)
    return Area(value, math.sqrt(max(variance, 0.25 / (m * n))), _by_chance(ranks, m, n))


def _by_chance(ranks: Floats, m: int, n: int) -> float:
    _, ties = np.unique(ranks, return_counts=True)
    total = m + n
    tied = float((ties.astype(np.float64) ** 3 - ties).sum()) / (total * (total - 1))
    return math.sqrt(max(total + 1 - tied, 0.0) / (12 * m * n))


@dataclass(frozen=True, slots=True)
class Advantage:
    """The share of members minus that of others who score at least the threshold; ``hits`` the first of the two."""

    value: float
    interval: tuple[float, float]
    hits: float


def threshold(members: Floats, others: Floats, most_false: float = 1.0) -> float:
    """Return the score from which on members outnumber others most, with at most ``most_false`` of the others."""
    levels = np.unique(np.concatenate([members, others]))
    hits = 1 - np.searchsorted(np.sort(members), levels, side="left") / len(members)
    false = 1 - np.searchsorted(np.sort(others), levels, side="left") / len(others)
    allowed = false <= most_false
    if not allowed.any():
        return math.inf
    return float(levels[allowed][np.argmax((hits - false)[allowed])])


def advantage(members: Floats, others: Floats, level: float) -> Advantage:
    """Return what a threshold that was chosen on other people gains."""
    hits, false = float((members >= level).mean()), float((others >= level).mean())
    return Advantage(hits - false, newcombe(hits, len(members), false, len(others)), hits)
