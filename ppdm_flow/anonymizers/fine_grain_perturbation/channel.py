"""One perturbed attribute: the operator that the step takes, what it was computed from, and its findings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.anonymizers.fine_grain_perturbation.optimum import (
    Ceilings,
    optimal_retention,
    strictly_feasible,
    uniform_retention,
)
from ppdm_flow.anonymizers.fine_grain_perturbation.people import shared_slack
from ppdm_flow.anonymizers.fine_grain_perturbation.spec import FineGrainParams
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.results import Finding
from ppdm_flow.core.roles import Directions
from ppdm_flow.requirements.sensitivities.requirement import Sensitivity, slack_of
from ppdm_flow.requirements.sensitivities.value_bounds import ValueBounds, value_bounds
from ppdm_flow.sdk.anonymizer import Operator

COMPARED = 100
"""Values up to which the operator of least reconstruction error is found for comparison even if it is not wanted."""
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class RetentionChoice:
    """Retention probabilities of shape (m,): chosen ones, the best uniform ones, those of greatest record utility.

    ``aggregate`` has those of least reconstruction error; None where m is large and they are not wanted.
    """

    chosen: Floats
    uniform: Floats
    record: Floats
    aggregate: Aggregate | None

    @classmethod
    def of(cls, params: FineGrainParams, frequency: Floats, slack: Floats, directions: Directions) -> RetentionChoice:
        """Find them all, and take the one that ``operator`` and ``objective`` ask for."""
        uniform = uniform_retention(slack, directions)
        record = optimal_retention(frequency, slack, directions)
        fine = params.operator == "fine_grain"
        wanted = fine and params.objective == "aggregate"
        aggregate = aggregate_retention(frequency, slack, directions) if wanted or len(frequency) <= COMPARED else None
        if wanted and aggregate is not None:
            return cls(aggregate.retention, uniform, record, aggregate)
        return cls(record if fine else uniform, uniform, record, aggregate)

    @property
    def is_record_optimum(self) -> bool:
        """True where nothing but record utility was asked for."""
        return np.array_equal(self.chosen, self.record)


@dataclass(frozen=True, slots=True, eq=False)
class PerturbationChannel:
    """``kind`` is ``fine_grain`` or ``uniform``; ``choice`` the operators that there were, ``rows`` how many rows."""

    requirement: Sensitivity
    operator: Operator
    kind: str
    frequency: npt.NDArray[np.float64]
    bounds: AmplificationBounds
    choice: RetentionChoice
    rows: int


def findings(channel: PerturbationChannel) -> Iterator[Finding]:
    """Yield what a reader should know: values known too well, a domain taken from the data, an empty channel."""
    name = channel.requirement.attribute
    yield from _known_too_well(channel)
    if channel.requirement.domain is None:
        text = f"The domain of `{name}` was taken from the data: {channel.operator.size} values."
        yield Finding("PPF794", Severity.INFO, text, name)
    if channel.operator.size > 1 and not (channel.operator.retention > 0).any():
        text = f"The bounds on `{name}` leave nothing of it: every cell is a uniform draw."
        yield Finding("PPF795", Severity.WARNING, text, name)


def _known_too_well(channel: PerturbationChannel) -> Iterator[Finding]:
    """One finding for each value with a bound of its own, one for all others: they are not named."""
    name = channel.requirement.attribute
    own = {b.value for b in channel.requirement.bounds}
    over = channel.bounds.every.known_too_well(channel.frequency)
    unnamed = 0
    for place in over.tolist():
        value = channel.operator.domain[place]
        if value not in own:
            unnamed += 1
            continue
        text = f"The share of `{value}` in `{name}` exceeds its r2 already: it is known too well beforehand."
        yield Finding("PPF741", Severity.WARNING, text, f"{name}={value}")
    if unnamed:
        text = f"The shares of {unnamed} values of `{name}` exceed r2 already: they are known too well beforehand."
        yield Finding("PPF741", Severity.WARNING, text, name)


# The fine-grain operator whose reconstructed frequencies lie closest to the original ones.
#
# Minimize T(p) = trace(A Cov(y) A^T) / n over the very constraints of the record optimum. T need not be convex in p, so
# what is returned is the best of several starts, and never worse than the uniform operator and the record optimum.
#
# T fell with every single p in all trials, though no proof of it is known to us. Were it so everywhere, the minimum
# would lie on one of the paths above every operator, and those are searched first. What follows does not rely on it:
# from the best operator found, Frank and Wolfe's steps go on while the linear program over the constraints, which
# :mod:`optimum` solves exactly, still sees a way down. `gap` is what that program sees at the end: max of -grad T (v -
# p) over all operators v, relative to T; at 0 the operator is a stationary point.
#
# Paths that pass above every operator: one level path, and one for each dominant value. For every p that keeps the
# bounds, some p on a path with the same largest entry is nowhere below it (see :mod:`optimum`).


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


# How far reconstructed frequencies lie from the original ones, on average: the aggregate objective.


NEGLIGIBLE = 1e-12
"""A retention probability below this is zero: no table that could be stored would show it."""


def expected_error(frequency: Floats, retention: Floats) -> Floats:
    """Return T = trace(A Cov(y) A^T) / n, with A = P^-1 and y the released counts of n records, in O(m).

    So E |A y - n f|^2 = n T given the fixed original table, where Cov(y) = n (diag(P f) - P diag(f) P^T); hence
    T = sum_j (P f)_j |A e_j|^2 - sum f. One p = 0 does no harm; with two, P has no inverse and T is inf.

    Parameters
    ----------
    frequency : f of shape (m,)
    retention : p of shape (..., m)

    Returns
    -------
    T of shape (...).
    """
    if len(frequency) == 1:
        return np.zeros(retention.shape[:-1])
    inverse = _Inverse.of(retention)
    spread = (_released(frequency, retention) * inverse.lengths()).sum(axis=-1) - frequency.sum()
    second = np.partition(retention, 1, axis=-1)[..., 1]
    return np.where(second > NEGLIGIBLE, np.maximum(spread, 0.0), np.inf)


def gradient(frequency: Floats, retention: Floats) -> Floats:
    """Return dT/dp of shape (m,), in O(m), for p with at most one zero.

    dP = (e_i - 1/m) e_i^T dp_i and dA = -A dP A give dT/dp_i = f_i (|A e_i|^2 - mean |A e|^2) - 2 z_i^T K e_i with
    z_i = A (e_i - 1/m) = w_i (e_i - w/R) and K = A diag(P f) A^T, whose columns sum to f.
    """
    inverse = _Inverse.of(retention)
    w, u, last = inverse.gain, inverse.blend, int(inverse.last[0])
    least, scale = float(retention[last]), float(inverse.scale[0])
    released = _released(frequency, retention)
    moved = released * u
    common = float(moved @ u) - moved
    own = w * w * (released - moved + common)  # K_ii
    columns = w * (w * released - float(w @ moved) + w.sum() * common)  # sum of K_ki over k != last
    weighted = w * (w * w * released - float((w * w) @ moved) + float(w @ w) * common)  # the same of w_k K_ki
    rest = frequency - columns  # K_ki with k = last
    rest[last] = 0.0
    pulled = w * (own - least / scale * weighted - rest / scale)
    pulled[last] = (w.sum() * (frequency[last] - rest.sum()) - float(w @ rest)) / scale
    lengths = inverse.lengths()
    result: Floats = frequency * (lengths - lengths.mean()) - 2.0 * pulled
    return result


@dataclass(frozen=True, slots=True, eq=False)
class _Inverse:
    """A = P^-1 by Sherman and Morrison: n_j = w_j (y_j - u^T y) for all j but ``last``, which has what is left.

    w = 1/p, R = sum w, u = (w - 1)/R. ``last`` has the smallest p; ``gain`` is w with 0 there, ``scale`` p_last R.
    Shapes (..., m), and (..., 1) of ``last`` and ``scale``.
    """

    gain: Floats
    blend: Floats
    last: npt.NDArray[np.intp]
    scale: Floats

    @classmethod
    def of(cls, retention: Floats) -> _Inverse:
        last = np.argmin(retention, axis=-1)[..., None]
        least = np.take_along_axis(retention, last, axis=-1)
        gain = 1.0 / np.maximum(retention, NEGLIGIBLE)
        np.put_along_axis(gain, last, 0.0, axis=-1)
        ratio = least * gain
        np.put_along_axis(ratio, last, 1.0, axis=-1)
        scale = ratio.sum(axis=-1, keepdims=True)
        return cls(gain, (ratio - least) / scale, last, scale)

    def lengths(self) -> Floats:
        """|A e_j|^2 for every j."""
        w, u = self.gain, self.blend
        remainder = u * w.sum(axis=-1, keepdims=True) - w + 1.0
        squares: Floats = w * w * (1.0 - 2.0 * u) + u * u * (w * w).sum(axis=-1, keepdims=True) + remainder**2
        return squares


def _released(frequency: Floats, retention: Floats) -> Floats:
    """P f."""
    common = ((1.0 - retention) @ frequency)[..., None] / len(frequency)
    expected: Floats = retention * frequency + common
    return expected


@dataclass(frozen=True, slots=True, eq=False)
class AmplificationBounds:
    """``every`` bound, and of each value the one that decides: the one with the smallest gamma.

    ``per_person`` is the largest number of different values of a person, over which the bounds are spent, where rows
    of one person draw alike.
    """

    every: ValueBounds
    per_person: int | None = None

    @property
    def slack(self) -> Floats:
        """Gamma - 1 of each value, shape (m,), in (0, inf]: inf is a value without a bound.

        Kept as gamma - 1 = (r2 - r1) / (r1 (1 - r2)), which loses no digits where r1 and r2 are close. Where a person
        has several different values, what each of them may spend.
        """
        return shared_slack(self._deciding(self.every.slack, np.inf), self.per_person)

    @property
    def gamma(self) -> Floats:
        """Gamma: r2 (1 - r1) / (r1 (1 - r2)) (Chaytor and Wang, Theorem 1)."""
        return self.slack + 1.0

    @property
    def r1(self) -> Floats:
        """R1 of the deciding bound, shape (m,): nan without a bound."""
        return self._deciding(self.every.r1, np.nan)

    @property
    def r2(self) -> Floats:
        """R2 of the deciding bound, shape (m,): nan without a bound."""
        return self._deciding(self.every.r2, np.nan)

    def _deciding(self, figures: Floats, otherwise: float) -> Floats:
        row = self.every.binding
        out = np.full(self.every.size, otherwise)
        out[row >= 0] = figures[row[row >= 0]]
        return out


def bounds_of(
    requirement: Sensitivity, domain: Sequence[str | None], frequency: Floats, per_person: int | None = None
) -> AmplificationBounds:
    """Give every value of ``domain`` its bounds: its own, else the default, else none."""
    return AmplificationBounds(value_bounds(requirement, domain, frequency), per_person)


__all__ = ["AmplificationBounds", "bounds_of", "slack_of"]
