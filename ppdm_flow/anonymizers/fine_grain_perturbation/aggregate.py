"""The fine-grain operator whose reconstructed frequencies lie closest to the original ones.

Minimize T(p) = trace(A Cov(y) A^T) / n over the very constraints of the record optimum. T need not be convex in p, so
what is returned is the best of several starts, and never worse than the uniform operator and the record optimum.

T fell with every single p in all trials, though no proof of it is known to us. Were it so everywhere, the minimum
would lie on one of the paths of :mod:`paths`, and those are searched first. What follows does not rely on it: from
the best operator found, Frank and Wolfe's steps go on while the linear program over the constraints, which
:mod:`optimum` solves exactly, still sees a way down. ``gap`` is what that program sees at the end: max of
-grad T (v - p) over all operators v, relative to T; at 0 the operator is a stationary point.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ppdm_flow.anonymizers.fine_grain_perturbation.ceilings import Floats
from ppdm_flow.anonymizers.fine_grain_perturbation.optimum import optimal_retention, uniform_retention
from ppdm_flow.anonymizers.fine_grain_perturbation.paths import level_path, single_path
from ppdm_flow.anonymizers.fine_grain_perturbation.reconstruction_error import expected_error, gradient
from ppdm_flow.anonymizers.fine_grain_perturbation.repair import strictly_feasible
from ppdm_flow.core.roles import Directions

_DOMINANT = 32
"""Values of the steepest descent that are tried as the dominant one, fewer where m is large."""
_WORK = 200_000
_STEPS = 60
_SETTLED = 1e-6
_HALVINGS = 50


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
