"""The ceiling h_j of a retention probability given the largest of the others, and how it moves with gamma_j."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.roles import Directions

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Ceilings:
    """The functions h_j of the values that have a bound. ``meet`` is t_j; slopes are positive numbers."""

    meet: Floats
    before: Floats
    after: Floats

    def at(self, level: float | Floats) -> Floats:
        """Return h_j(level); several levels have shape (k, 1)."""
        gap = self.meet - level
        return self.meet + gap * np.where(gap > 0, self.before, self.after)

    def slope(self, level: float) -> Floats:
        """Return -h_j'(level), from the right."""
        return np.where(level < self.meet, self.before, self.after)

    @property
    def reach(self) -> Floats:
        """Where h_j falls to zero."""
        return self.meet + self.meet / self.after

    @classmethod
    def of(cls, slack: Floats, size: int, directions: Directions) -> Ceilings:
        """Build them from gamma - 1 (finite) and the size m >= 2 of the domain."""
        ratio = (slack + 1.0) / (size - 1)
        meet = slack / (slack + size)
        if directions is Directions.UPWARD:
            return cls(meet, ratio, ratio)
        return cls(meet, np.minimum(ratio, 1.0 / ratio), np.maximum(ratio, 1.0 / ratio))


@dataclass(frozen=True, slots=True, eq=False)
class Branches:
    """Which of the two lines a value's ceiling follows beyond its t, and before it.

    The upward line is ((gamma - 1) - gamma u)/(m - 1), the downward one ((gamma - 1) - (m - 1) u)/gamma.
    """

    gamma: Floats
    size: int
    directions: Directions

    @property
    def steep_is_upward(self) -> npt.NDArray[np.bool_]:
        """True where the line beyond t is the upward one: gamma >= m - 1, or no other is asked for."""
        if self.directions is Directions.UPWARD:
            return np.ones(len(self.gamma), dtype=bool)
        return self.gamma >= self.size - 1

    def meet_rate(self) -> Floats:
        """dt/dgamma."""
        rate: Floats = self.size / (self.gamma - 1.0 + self.size) ** 2
        return rate

    def reach_rate(self) -> Floats:
        """How fast the place where h falls to zero moves with gamma."""
        return np.where(self.steep_is_upward, self.gamma**-2.0, 1.0 / (self.size - 1))

    def rise_after(self, level: float) -> Floats:
        """dh/dgamma at a level beyond t."""
        return np.where(self.steep_is_upward, self._upward(level), self._downward(level))

    def _upward(self, level: float) -> Floats:
        return np.full(len(self.gamma), (1.0 - level) / (self.size - 1))

    def _downward(self, level: float) -> Floats:
        rate: Floats = (1.0 + (self.size - 1) * level) / self.gamma**2
        return rate


def strictly_feasible(retention: Floats, slack: Floats, directions: Directions) -> Floats:
    """Return p scaled down by as little as makes every amplification at most gamma, as computed in doubles.

    All constraints are of the form a p_i + b p_j <= c with a, b, c >= 0, so a scaled-down p satisfies them too, and
    p = 0 satisfies them all: the search ends.
    """
    shrink = float(np.finfo(np.float64).eps)
    scaled = retention
    while worst_excess(scaled, slack, directions) > 0.0:
        scaled = retention * (1.0 - min(shrink, 1.0))
        shrink *= 2.0
    return scaled


def worst_excess(retention: Floats, slack: Floats, directions: Directions) -> float:
    """Return the largest amplification / gamma - 1 over all values and directions (-1 without any bound).

    Upward at i: P[i,i] / min_k P[i,k] = ((m-1) p_i + 1) / (1 - M_i), M_i the largest p_k with k != i. Downward at i:
    max_j P[j,j] / P[j,i] = ((m-1) M_i + 1) / (1 - p_i).
    """
    bounded = np.isfinite(slack)
    size = len(retention)
    if size == 1 or not bounded.any():
        return -1.0
    own, other, gamma = retention[bounded], _largest_other(retention)[bounded], slack[bounded] + 1.0
    excess = [_ratio((size - 1) * own + 1.0, 1.0 - other, gamma)]
    if directions is Directions.BOTH:
        excess.append(_ratio((size - 1) * other + 1.0, 1.0 - own, gamma))
    return float(max(e.max() for e in excess))


def _ratio(numerator: Floats, denominator: Floats, gamma: Floats) -> Floats:
    part: Floats = np.divide(numerator, denominator, out=np.full(len(gamma), np.inf), where=denominator > 0.0)
    excess: Floats = part / gamma - 1.0
    return excess


def _largest_other(values: Floats) -> Floats:
    top = int(np.argmax(values))
    out = np.full(len(values), values[top])
    out[top] = np.delete(values, top).max()
    return out
