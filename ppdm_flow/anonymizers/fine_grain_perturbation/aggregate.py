"""The fine-grain operator whose reconstructed frequencies lie closest to the original ones.

Minimize T(p) = trace(A Cov(y) A^T) / n over the very constraints of the record optimum. T need not be convex in p, so
what is returned is the best of several starts, and never worse than the uniform operator and the record optimum.

T fell with every single p in all trials, though no proof of it is known to us. Were it so everywhere, the minimum
would lie on one of the paths above every operator, and those are searched first. What follows does not rely on it: from
the best operator found, Frank and Wolfe's steps go on while the linear program over the constraints, which
:mod:`optimum` solves exactly, still sees a way down. ``gap`` is what that program sees at the end: max of
-grad T (v - p) over all operators v, relative to T; at 0 the operator is a stationary point.

Paths that pass above every operator: one level path, and one for each dominant value.
Whatever p holds the bounds, some p on a path with the same largest entry is nowhere below it (see :mod:`optimum`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.anonymizers.fine_grain_perturbation.ceilings import Ceilings, Floats, strictly_feasible
from ppdm_flow.anonymizers.fine_grain_perturbation.optimum import optimal_retention, uniform_retention
from ppdm_flow.anonymizers.fine_grain_perturbation.reconstruction_error import expected_error, gradient
from ppdm_flow.core.roles import Directions

_DOMINANT = 32
"""Values of the steepest descent that are tried as the dominant one, fewer where m is large."""

_WORK = 200_000
_STEPS = 60
_SETTLED = 1e-6
_HALVINGS = 50

_COARSE = 48
_FINE = 17
_ROUNDS = 12
_NUMBERS = 1 << 18


@dataclass(frozen=True, slots=True, eq=False)
class OperatorPath:
    """Operators by the largest p, u in [``low``, ``high``]. ``at`` maps u of shape (k,) to p of shape (k, m)."""

    size: int
    low: float
    high: float
    at: Callable[[Floats], Floats]

    def best(self, cost: Callable[[Floats], Floats]) -> Floats:
        """Return the p of least ``cost`` (a function of p, shape (k, m) to (k,)): a grid that closes in on it."""
        places = np.linspace(self.low, self.high, _COARSE)
        for _ in range(_ROUNDS):
            least = int(np.argmin(self._costs(places, cost)))
            low, high = places[max(least - 1, 0)], places[min(least + 1, len(places) - 1)]
            if not high > low:
                break
            places = np.union1d(np.linspace(low, high, _FINE), places[least])
        retention: Floats = self.at(places[[int(np.argmin(self._costs(places, cost)))]])[0]
        return retention

    def _costs(self, places: Floats, cost: Callable[[Floats], Floats]) -> Floats:
        """Cost at each place, as many at once as fit into little memory."""
        at_once = max(1, _NUMBERS // self.size)
        parts = [places[start : start + at_once] for start in range(0, len(places), at_once)]
        return np.concatenate([cost(self.at(part)) for part in parts])


def level_path(slack: Floats, directions: Directions) -> OperatorPath:
    """Return p_j = min(u, h_j(u)): with two values or more at the largest p."""
    bounded = np.isfinite(slack)
    ceilings = Ceilings.of(slack[bounded], len(slack), directions)

    def at(levels: Floats) -> Floats:
        out = np.repeat(levels[:, None], len(slack), axis=1)
        out[:, bounded] = np.minimum(out[:, bounded], ceilings.at(levels[:, None]))
        return np.maximum(out, 0.0)

    return OperatorPath(len(slack), 0.0, float(ceilings.reach.min()), at)


def single_path(slack: Floats, directions: Directions, top: int) -> OperatorPath:
    """Return p_top = u above its own t, the others p_j = min(h_top^-1(u), h_j(u)); ``top`` has a bound.

    There is no such operator where ``high`` is not above ``low``.
    """
    bounded = np.isfinite(slack)
    own = Ceilings.of(slack[[top]], len(slack), directions)
    others: npt.NDArray[np.bool_] = bounded.copy()
    others[top] = False
    rest = Ceilings.of(slack[others], len(slack), directions)
    start, fall = float(own.meet[0]), 1.0 / float(own.before[0])
    stop = min([start + start / fall, 1.0, *rest.reach.tolist()])

    def at(levels: Floats) -> Floats:
        cap = start - (levels - start) * fall
        out = np.repeat(cap[:, None], len(slack), axis=1)
        out[:, others] = np.minimum(out[:, others], rest.at(levels[:, None]))
        out[:, top] = levels
        return np.maximum(out, 0.0)

    return OperatorPath(len(slack), start, stop, at)


@dataclass(frozen=True, slots=True, eq=False)
class Aggregate:
    """``retention`` p, its ``error`` T, and the relative ``gap`` of first order that is left."""

    retention: Floats
    error: float
    gap: float


def aggregate_retention(frequency: Floats, slack: Floats, directions: Directions) -> Aggregate:
    """Return the best operator found, strictly within its constraints.

    Parameters
    ----------
    frequency : f of shape (m,), shares
    slack : gamma - 1 > 0 of shape (m,), inf for a value without a bound
    """
    record = optimal_retention(frequency, slack, directions)
    if len(frequency) == 1 or not np.isfinite(slack).any():
        return Aggregate(record, 0.0, 0.0)
    uniform = uniform_retention(slack, directions)
    problem = _Problem(frequency, slack, directions)
    starts = [uniform, record, *((1 - t) * uniform + t * record for t in (0.25, 0.5, 0.75)), problem.along()]
    best = problem.descended(problem.least(starts))
    start = problem.least([uniform, record, strictly_feasible(best, slack, directions)])
    error = float(expected_error(frequency, start))
    gap, _ = problem.way_down(start)
    return Aggregate(start, error, gap / error if error > 0.0 else 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class _Problem:
    frequency: Floats
    slack: Floats
    directions: Directions

    def cost(self, retention: Floats) -> Floats:
        return expected_error(self.frequency, retention)

    def least(self, operators: list[Floats]) -> Floats:
        """The first of the best ones."""
        return operators[int(np.argmin([float(self.cost(p)) for p in operators]))]

    def along(self) -> Floats:
        """Search the level path, and those of the values that would fall steepest alone."""
        level = level_path(self.slack, self.directions).best(self.cost)
        steep = gradient(self.frequency, level)
        steep[~np.isfinite(self.slack)] = np.inf
        tried = max(1, min(_DOMINANT, _WORK // len(steep)))
        dominant = [int(i) for i in np.argsort(steep, kind="stable")[:tried] if steep[i] < 0.0]
        paths = [single_path(self.slack, self.directions, i) for i in dominant]
        return self.least([level, *(path.best(self.cost) for path in paths if path.high > path.low)])

    def way_down(self, retention: Floats) -> tuple[float, Floats]:
        """Return the gap at p, and the operator v that the linear program over the constraints goes for."""
        steep = gradient(self.frequency, retention)
        pull = np.maximum(-steep, 0.0)
        goal = optimal_retention(pull, self.slack, self.directions)
        goal[steep > 0.0] = 0.0  # smaller is always feasible
        return max(0.0, float(steep @ (retention - goal))), goal

    def descended(self, retention: Floats) -> Floats:
        """Go down until nothing is left to gain at first order."""
        for _ in range(_STEPS):
            gap, goal = self.way_down(retention)
            if gap <= _SETTLED * float(self.cost(retention)):
                break
            step = goal - retention
            low, high = 0.0, 1.0
            for _ in range(_HALVINGS):
                middle = 0.5 * (low + high)
                falls = float(gradient(self.frequency, retention + middle * step) @ step) < 0.0
                low, high = (middle, high) if falls else (low, middle)
            following = retention + low * step
            if not self.cost(following) < self.cost(retention):
                break
            retention = following
        return retention
