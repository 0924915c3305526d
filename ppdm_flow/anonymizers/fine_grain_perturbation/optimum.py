"""The optimal fine-grain operator, exactly, in O(m log m).

Maximize ``sum f_i p_i`` over 0 <= p <= 1 subject to, for all i != j (Chaytor and Wang, section 4)::

    upward     (m - 1) p_j + gamma_j p_i <= gamma_j - 1
    downward   gamma_j p_j + (m - 1) p_i <= gamma_j - 1        (with ``directions: both``)

For a fixed j the p_i matter by their largest, M_j, alone: p_j <= h_j(M_j), where h_j is concave, falling, and meets
the diagonal at t_j = (gamma_j - 1) / (gamma_j - 1 + m). Its slope is -gamma_j / (m - 1) (upward); with both
directions, -rho_j before t_j and -1 / rho_j after it, where rho_j <= 1 is that ratio or its inverse.

Let u = p_a be the largest. If u <= t_a, then p_j = min(u, h_j(u)) for all j is feasible and no worse, so the optimum
is the peak of the concave G(u) = sum f_j min(u, h_j(u)): the *level* case. If u > t_a, the others stay below
s(u) = h_a^-1(u) < u: the *single* case, the peak of F_a(u) = f_a u + sum f_j min(s(u), h_j(u)) for u >= t_a. F_a is
concave and F_a(t_a) = G(t_a), so a can win only if F_a rises at t_a, that is if f_a exceeds
sum f_j |slope of min(s, h_j)|. Two values cannot both pass: for t_a < t_b, a's test demands f_a > f_b |s_a'| and
b's f_b > f_a |h_a'| with |s_a'| |h_a'| >= 1; for t_a = t_b, f_a > f_b > f_a. So there is one candidate at most.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.roles import Directions

_ZERO = 1e-15
"""Rounding leaves about this much of a probability that is zero; a smaller p is always feasible."""
Floats = npt.NDArray[np.float64]


def peak(breaks: Floats, rise: Callable[[float], float], low: float, high: float) -> float:
    """Return where a concave piecewise linear function peaks in [low, high]; ``rise`` is its slope.

    Bisection over the sorted breakpoints: the slope is constant between neighbours.
    """
    points = np.unique(np.concatenate([[low], breaks[(breaks > low) & (breaks < high)], [high]]))
    first, last = 0, len(points) - 1  # the peak is one of points[first..last]
    while first < last:
        middle = (first + last) // 2
        if rise(float(points[middle] + (points[middle + 1] - points[middle]) / 2)) > 0.0:
            first = middle + 1
        else:
            last = middle
    return float(points[first])


def optimal_retention(frequency: Floats, slack: Floats, directions: Directions) -> Floats:
    """Return the optimal p, shape (m,), strictly within its constraints.

    ``frequency`` f >= 0 of shape (m,); ``slack`` gamma - 1 > 0, inf for a value without a bound.

    >>> optimal_retention(np.full(4, 0.25), np.array([0.5, 2.0, 8.5, 17.0]), Directions.UPWARD).round(4).tolist()
    [0.0, 0.3333, 0.3333, 0.3333]
    """
    size = len(frequency)
    bounded = np.isfinite(slack)
    if size == 1 or not bounded.any():
        return np.ones(size)
    free = float(frequency[~bounded].sum())
    ceilings = Ceilings.of(slack[bounded], size, directions)
    level, shares = _best(frequency[bounded], ceilings, free)
    retention = np.full(size, level)
    retention[bounded] = shares
    retention = np.where(retention < _ZERO, 0.0, np.minimum(retention, 1.0))
    return strictly_feasible(retention, slack, directions)


def uniform_retention(slack: Floats, directions: Directions) -> Floats:
    """Return the optimal p with all p_i equal: (gamma_min - 1) / (gamma_min - 1 + m), or 1 without any bound."""
    size = len(slack)
    least = float(slack.min())
    share = 1.0 if size == 1 or np.isinf(least) else least / (least + size)
    return strictly_feasible(np.full(size, share), slack, directions)


def record_utility(frequency: Floats, retention: Floats) -> float:
    """Return the expected share of rows that keep their value: sum f_i (p_i + (1 - p_i) / m).

    >>> record_utility(np.full(4, 0.25), np.array([0.0, 1 / 3, 1 / 3, 1 / 3]))
    0.4375
    """
    return float(frequency @ (retention + (1.0 - retention) / len(retention)))


def _best(frequency: Floats, ceilings: Ceilings, free: float) -> tuple[float, Floats]:
    """Return (the p of values without a bound, the p of the others)."""
    level = _level(frequency, ceilings, free)
    shares = np.minimum(level, ceilings.at(level))
    single = _single(frequency, ceilings, free)
    if single is not None and free * single[0] + frequency @ single[1] > free * level + frequency @ shares:
        return single
    return level, shares


def _level(frequency: Floats, ceilings: Ceilings, free: float) -> float:
    """Return the u where G peaks."""

    def rise(level: float) -> float:
        return free + float(np.where(level < ceilings.meet, frequency, -frequency * ceilings.after).sum())

    return peak(np.append(ceilings.meet, 0.0), rise, 0.0, float(ceilings.reach.min()))


def _single(frequency: Floats, ceilings: Ceilings, free: float) -> tuple[float, Floats] | None:
    """Return the p of the single case, (that of values without a bound, the others'), or None if there is none."""
    gain = _rise_at_own_meet(frequency, ceilings, free)
    a = int(np.argmax(gain))
    start = float(ceilings.meet[a])
    others = np.delete(np.arange(len(frequency)), a)
    rest = Ceilings(ceilings.meet[others], ceilings.before[others], ceilings.after[others])
    stop = min([start + start * float(ceilings.before[a]), 1.0, *([float(rest.reach.min())] if len(others) else [])])
    if gain[a] <= 0.0 or stop <= start:
        return None
    fall = 1.0 / float(ceilings.before[a])

    def below(top: float) -> float:
        return start - (top - start) * fall

    def rise(top: float) -> float:
        capped = below(top) < rest.at(top)
        return float(frequency[a]) - free * fall - float(frequency[others] @ np.where(capped, fall, rest.slope(top)))

    top = peak(np.concatenate([rest.meet, *_crossings(rest, start, fall)]), rise, start, stop)
    cap = max(0.0, below(top))
    shares = np.empty(len(frequency))
    shares[others] = np.minimum(cap, rest.at(top))
    shares[a] = top
    return cap, shares


def _rise_at_own_meet(frequency: Floats, ceilings: Ceilings, free: float) -> Floats:
    """F_a'(t_a+) for every a, by prefix sums over the values sorted by t."""
    order = np.argsort(ceilings.meet, kind="stable")
    f, meet, before, after = frequency[order], ceilings.meet[order], ceilings.before[order], ceilings.after[order]
    fall = 1.0 / before
    first = np.searchsorted(meet, meet, side="left")
    last = np.searchsorted(meet, meet, side="right")
    lower = np.concatenate([[0.0], np.cumsum(f * after)])
    mass = np.concatenate([[0.0], np.cumsum(f)])
    ties = (mass[last] - mass[first] - f) * np.maximum(fall, after)
    higher = (mass[-1] - mass[last] + free) * fall
    gain = np.empty(len(f))
    gain[order] = f - lower[first] - ties - higher
    return gain


def _crossings(rest: Ceilings, start: float, fall: float) -> tuple[Floats, Floats]:
    """Where s(u) = start - (u - start) fall meets either branch of h_j: solutions of two linear equations."""
    crossings = []
    for slope in (rest.before, rest.after):
        steepness = fall - slope
        offset = start * (1.0 + fall) - rest.meet * (1.0 + slope)
        crossings.append(np.divide(offset, steepness, out=np.full(len(slope), -1.0), where=steepness != 0.0))
    return crossings[0], crossings[1]


# The ceiling h_j of a retention probability given the largest of the others, and how it moves with gamma_j.


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
