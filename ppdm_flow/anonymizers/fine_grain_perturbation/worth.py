"""What each bound costs, as the report shows it: figures, a picture, and a sentence on the dearest one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.optimize import linprog

from ppdm_flow.anonymizers.fine_grain_perturbation.channel import PerturbationChannel, expected_error
from ppdm_flow.anonymizers.fine_grain_perturbation.optimum import Branches, Ceilings, optimal_retention, record_utility
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.results import Chart, Figure, FigureSeries, Finding
from ppdm_flow.core.roles import Directions
from ppdm_flow.requirements.sensitivities.requirement import Sensitivity
from ppdm_flow.requirements.sensitivities.value_bounds import stated_gamma

TOP = 40
STEP = 0.01
"""How much of r2 a price is for."""
_NOTHING = 1e-12
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class BoundWorth:
    """``raising`` and ``lowering``: record utility gained and lost for 0.01 of r2 at the margin; nan where unknown."""

    channel: PerturbationChannel
    raising: Floats
    lowering: Floats

    @classmethod
    def of(cls, channel: PerturbationChannel) -> BoundWorth | None:
        """Find the prices; None where the operator does not stand at the optimum of record utility.

        None, too, where the smallest gamma alone decides, since a person has several different values.
        """
        if not channel.choice.is_record_optimum or (channel.bounds.per_person or 1) > 1:
            return None
        bounds, directions = channel.bounds, channel.requirement.directions
        prices = shadow_prices(channel.frequency, bounds.slack, bounds.r2, directions, channel.choice.record)
        worth = cls(channel, STEP * prices.raising, STEP * prices.lowering)
        return worth if len(worth.places) else None

    @property
    def places(self) -> list[int]:
        """The values with the highest prices, those first."""
        known = np.flatnonzero(np.isfinite(self.raising))
        order = np.lexsort((-self.lowering[known], -self.raising[known]))
        dearest: list[int] = known[order][:TOP].tolist()
        return dearest

    def figures(self) -> dict[str, Figure]:
        """Return ``shadow_price.<value>`` of the values that the policy names."""
        named = {b.value for b in self.channel.requirement.bounds} | set(self.channel.requirement.domain or ())
        domain = self.channel.operator.domain
        return {f"shadow_price.{domain[i]}": self._figure(i) for i in self.places if domain[i] in named}

    def chart(self) -> Chart:
        """Return bars of the gain for each value, with what lowering r2 would lose where that differs."""
        name, chosen = self.channel.requirement.attribute, self.places
        gain, loss = (tuple(float(prices[i]) for i in chosen) for prices in (self.raising, self.lowering))
        series = [FigureSeries("gained by raising r2 by 0.01", gain)]
        if any(abs(a - b) > _NOTHING for a, b in zip(gain, loss, strict=True)):
            series.append(FigureSeries("lost by lowering r2 by 0.01", loss))
        return Chart(
            id=f"{name}.shadow_prices",
            title=f"What each bound on {name} costs",
            kind="bars",
            x=tuple(self.label(i) for i in chosen),
            series=tuple(series),
            x_label="value",
            y_label="share of rows that keep their value",
            note=f"at the margin, for at most {TOP} values, the dearest bounds first",
            group=name,
        )

    def finding(self) -> Finding | None:
        """Say which bound costs most; nothing where no bound alone costs anything."""
        top = self.places[0]
        if not self.raising[top] > _NOTHING:
            return None
        name, points = self.channel.requirement.attribute, 100.0 * float(self.raising[top])
        value = self.label(top)
        what = f"`{value}`" if value == self.channel.operator.domain[top] else value
        text = (
            f"The bound on {what} in `{name}` costs most: raising its r2 by 0.01 would let {points:.3g} percentage"
            " points more of all rows keep their value."
        )
        return Finding("PPF770", Severity.INFO, text, name)

    def label(self, place: int) -> str:
        """Return how a value may be shown: itself where the policy names it, else its number."""
        value = self.channel.operator.domain[place]
        if value is None:
            return "missing"
        requirement = self.channel.requirement
        named = {b.value for b in requirement.bounds} | set(requirement.domain or ())
        return value if value in named else f"value {place + 1}"

    def _figure(self, place: int) -> Figure:
        gain, loss = float(self.raising[place]), float(self.lowering[place])
        note = "gain in record utility for each 0.01 that r2 is raised"
        apart = abs(gain - loss) > _NOTHING + 1e-6 * abs(loss)
        interval = (min(gain, loss), max(gain, loss)) if apart else None
        return Figure(gain, "probability", interval, note=note)


# Shadow prices: how much record utility a little more of one value's r2 buys.
#
# The derivatives of V(gamma) = max sum f_i p_i follow from where the optimum stands (see :mod:`optimum`). Raising
# gamma_i lifts h_i alone. At the level u a value with t_i > u is held by others: price 0. One with t_i < u gains f_i
# dh_i(u). Where u stands on t_i itself, or where h_i falls to zero, u moves along, and all that follow u gain or lose
# with it. These are the sums of the duals of the linear program. Where several values stand in one place the duals are
# not unique, and the prices of raising and of lowering differ; there, and where one value stands above all others, the
# program is solved again a little to either side.


_NEAR = 1e-9
_STEP = 1e-6
MOST_RESOLVED = 64
"""Values whose price is found by solving again where there is no closed form."""


@dataclass(frozen=True, slots=True, eq=False)
class Prices:
    """d(record utility)/d(r2) of shape (m,): of ``raising`` r2 and of ``lowering`` it; nan where there is none."""

    raising: Floats
    lowering: Floats


def shadow_prices(frequency: Floats, slack: Floats, r2: Floats, directions: Directions, retention: Floats) -> Prices:
    """Return the prices at the record optimum ``retention``.

    Record utility is 1/m + (1 - 1/m) sum f_i p_i, and dgamma/dr2 = gamma / (r2 (1 - r2)) at a fixed r1.

    Parameters
    ----------
    frequency, slack, r2, retention : f, gamma - 1 (inf without a bound), r2 and p of shape (m,)
    """
    size = len(frequency)
    raising, lowering = np.full(size, np.nan), np.full(size, np.nan)
    bounded = np.isfinite(slack)
    if size == 1 or not bounded.any():
        return Prices(raising, lowering)
    place = _Place.of(frequency, slack, directions)
    level = float(retention.max())
    if (retention[bounded] > place.ceilings.meet * (1.0 + _NEAR)).any():
        doubtful = np.ones(int(bounded.sum()), dtype=bool)
    else:
        raising[bounded], lowering[bounded] = place.prices(level)
        doubtful = place.tied(level)
    unresolved = np.flatnonzero(bounded)[doubtful]
    raising[unresolved], lowering[unresolved] = _resolved(frequency, slack, directions, unresolved)
    bound = np.where(r2 > 0.0, r2, np.nan)
    rate = (1.0 - 1.0 / size) * (slack + 1.0) / (bound * (1.0 - bound))
    return Prices(raising * rate, lowering * rate)


@dataclass(frozen=True, slots=True, eq=False)
class _Place:
    """The level case."""

    frequency: Floats
    free: float
    ceilings: Ceilings
    branches: Branches

    @classmethod
    def of(cls, frequency: Floats, slack: Floats, directions: Directions) -> _Place:
        bounded, size = np.isfinite(slack), len(slack)
        ceilings = Ceilings.of(slack[bounded], size, directions)
        branches = Branches(slack[bounded] + 1.0, size, directions)
        return cls(frequency[bounded], float(frequency[~bounded].sum()), ceilings, branches)

    def tied(self, level: float) -> npt.NDArray[np.bool_]:
        """The values that stand on the level, or end there, if they are several."""
        _, on, ends = self._where(level)
        either = on | ends
        return either if either.sum() > 1 else np.zeros(len(on), dtype=bool)

    def prices(self, level: float) -> tuple[Floats, Floats]:
        """Return dV/dgamma for raising and lowering; where V is as high over a range of levels, of both its ends."""
        raising, lowering = self._at(level)
        following = self._end_of_flat(level)
        if following is not None:
            more, less = self._at(following)
            raising, lowering = np.maximum(raising, more), np.minimum(lowering, less)
        return raising, lowering

    def _at(self, level: float) -> tuple[Floats, Floats]:
        f, after = self.frequency, self.ceilings.after
        below, on, ends = self._where(level)
        left = np.where(below, -f * after, f)
        right = np.where(below | on, -f * after, f)
        others_left = self.free + left.sum() - left
        others_right = np.where(ends.sum() - ends > 0, -np.inf, self.free + right.sum() - right)
        lift = f * self.branches.rise_after(level)
        raising, lowering = np.where(below, lift, 0.0), np.where(below, lift, 0.0)
        meet, reach = self.branches.meet_rate(), self.branches.reach_rate()
        raising[on] = (meet * np.maximum(0.0, f + others_right))[on]
        lowering[on] = (meet * np.minimum(f * (1.0 + after), f + others_left))[on]
        raising[ends] = np.maximum(reach * others_right, lift)[ends]
        lowering[ends] = (reach * others_left)[ends]
        return raising, np.maximum(lowering, 0.0)

    def _where(self, level: float) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """Which values have t below the level, on it, and which end there."""
        meet = self.ceilings.meet
        on = np.abs(meet - level) <= _NEAR * level
        return (meet < level) & ~on, on, np.abs(self.ceilings.reach - level) <= _NEAR * level

    def _end_of_flat(self, level: float) -> float | None:
        below, on, ends = self._where(level)
        right = np.where(below | on, -self.frequency * self.ceilings.after, self.frequency)
        if ends.any() or abs(self.free + float(right.sum())) > _NEAR * (self.free + float(np.abs(right).sum())):
            return None
        ahead = np.concatenate([self.ceilings.meet, self.ceilings.reach])
        ahead = ahead[ahead > level * (1.0 + _NEAR)]
        return float(ahead.min()) if len(ahead) else None


def _resolved(
    frequency: Floats, slack: Floats, directions: Directions, places: npt.NDArray[np.intp]
) -> tuple[Floats, Floats]:
    """Solve again for the most frequent of ``places``; the others' prices are nan."""
    raising, lowering = np.full(len(places), np.nan), np.full(len(places), np.nan)
    now = _value(frequency, slack, directions)
    for at in np.argsort(-frequency[places], kind="stable")[:MOST_RESOLVED].tolist():
        step = _STEP * slack[places[at]]
        moved = slack.copy()
        moved[places[at]] += step
        raising[at] = (_value(frequency, moved, directions) - now) / step
        moved[places[at]] -= 2.0 * step
        lowering[at] = (now - _value(frequency, moved, directions)) / step
    return raising, lowering


def _value(frequency: Floats, slack: Floats, directions: Directions) -> float:
    return float(frequency @ optimal_retention(frequency, slack, directions))


# What the report says of the operators that were taken, and of those that were not.


def comparison(channel: PerturbationChannel) -> Iterator[tuple[str, Figure]]:
    """Yield the record utility of general matrices and the expected reconstruction error of each operator.

    ``expected_reconstruction_error`` is sqrt(trace(P^-1 Cov(y) P^-T)) / n: the root of the expected squared distance
    between the shares that reconstruction by inverse gives and the original ones.
    """
    yield from _general(channel)
    error = "expected_reconstruction_error"
    yield error, _error(channel, channel.operator.retention)
    yield f"uniform_{error}", _error(channel, channel.choice.uniform)
    yield f"record_{error}", _error(channel, channel.choice.record)
    if channel.choice.aggregate is not None:
        yield f"aggregate_{error}", _error(channel, channel.choice.aggregate.retention)
        note = "what first-order conditions leave to gain, as a share of the squared error; 0 at a local optimum"
        yield "aggregate_gap", Figure(channel.choice.aggregate.gap, "share", note=note)


def _general(channel: PerturbationChannel) -> Iterator[tuple[str, Figure]]:
    size = channel.operator.size
    optimum = None
    note = f"left out: the attribute has {size:,} values, more than {LARGEST}"
    if size <= LARGEST:
        optimum = general_optimum(channel.frequency, channel.bounds.slack, channel.requirement.directions)
        note = "" if optimum is not None else f"left out: not found within {SECONDS:g} seconds"
    best = record_utility(channel.frequency, channel.choice.record)
    utility = None if optimum is None else optimum.utility
    yield "general_record_utility", Figure(utility, "probability", note=note)
    cost = None if utility is None else max(0.0, utility - best)
    yield "restriction_cost", Figure(cost, "probability", note=note)


def _error(channel: PerturbationChannel, retention: Floats) -> Figure:
    if not channel.rows:
        return Figure(None, "share", note="there are no rows")
    squared = float(expected_error(channel.frequency, retention)) / channel.rows
    if np.isinf(squared):
        return Figure(None, "share", note="values that are never kept cannot be told apart")
    return Figure(float(np.sqrt(squared)), "share")


def figures(channels: Sequence[PerturbationChannel], worths: Mapping[str, BoundWorth]) -> dict[str, Figure]:
    """Return the figures of every channel; their names carry the attribute where there are several."""
    figures: dict[str, Figure] = {}
    for channel in channels:
        prefix = f"{channel.operator.attribute}." if len(channels) > 1 else ""
        retention = channel.operator.retention
        figures |= {
            f"{prefix}record_utility": _probability(record_utility(channel.frequency, retention)),
            f"{prefix}uniform_record_utility": _probability(record_utility(channel.frequency, channel.choice.uniform)),
            f"{prefix}lowest_retention": _probability(float(retention.min())),
            f"{prefix}highest_retention": _probability(float(retention.max())),
        }
        figures |= {f"{prefix}{name}": figure for name, figure in comparison(channel)}
        worth = worths.get(channel.operator.attribute)
        if worth is not None:
            figures |= {f"{prefix}{name}": figure for name, figure in worth.figures().items()}
    return figures


def artifact(channels: Sequence[PerturbationChannel]) -> dict[str, Any]:
    """Return the content of ``operator.json``: all that estimating from the released data needs."""
    return {"version": 1, "operators": [_operator(c) for c in channels]}


def _operator(channel: PerturbationChannel) -> dict[str, Any]:
    return {
        **channel.operator.document(),
        "directions": str(channel.requirement.directions),
        "bounds": as_written(channel.requirement),
        "gamma": stated_gamma(channel.requirement, channel.operator.domain),
    }


def as_written(requirement: Sensitivity) -> Mapping[str, Any]:
    """The bounds as the policy states them: those that a tolerance implies would publish exact frequencies."""
    bounds = [
        {"value": b.value, "r1": b.r1, "r2": b.r2} | ({"given": b.given} if b.given else {}) for b in requirement.bounds
    ]
    default = requirement.fixed and {"r1": requirement.fixed[0], "r2": requirement.fixed[1]}
    return {"values": bounds, "tolerance": requirement.tolerance, "default": default}


def _probability(value: float) -> Figure:
    return Figure(value, "probability")


# The best perturbation matrix of any form under the same bounds: what the fine-grain form gives away.


LARGEST = 30
"""Values up to which the program is solved; it has m^2 + 2m unknowns."""
SECONDS = 5.0
_TOLERANCE = 1e-10


@dataclass(frozen=True, slots=True, eq=False)
class GeneralOperator:
    """``matrix`` P[j, i] = Pr[released j | original i], shape (m, m); ``utility`` is sum f_i P[i, i]."""

    matrix: Floats
    utility: float


def general_optimum(
    frequency: Floats, slack: Floats, directions: Directions, seconds: float = SECONDS
) -> GeneralOperator | None:
    """Return the column-stochastic P of greatest record utility, or None if ``seconds`` do not suffice.

    For all j and all k != i: P[j, i] <= gamma_i P[j, k] (upward) and P[j, k] <= gamma_i P[j, i] (downward). As
    gamma_i > 1, k = i may be included, so that only the least and the largest entry of each row matter. With l_j and
    u_j for these, m^3 rows become 2 m^2 for each direction: l_j <= P[j, k], P[j, i] <= gamma_i l_j, P[j, k] <= u_j,
    u_j <= gamma_i P[j, i].

    Parameters
    ----------
    frequency : f >= 0 of shape (m,)
    slack : gamma - 1 > 0 of shape (m,), inf for a value without a bound
    """
    size = len(frequency)
    bounded = np.flatnonzero(np.isfinite(slack))
    if size == 1 or not len(bounded):
        return GeneralOperator(np.eye(size), float(frequency.sum()))
    cost = np.zeros(size * size + 2 * size)
    cost[np.arange(size) * (size + 1)] = -frequency
    ratios = _ratios(size, bounded, slack[bounded] + 1.0, directions)
    done = linprog(
        cost,
        A_ub=ratios,
        b_ub=np.zeros(ratios.shape[0]),
        A_eq=_column_sums(size),
        b_eq=np.ones(size),
        bounds=(0.0, 1.0),
        options={
            "time_limit": seconds,
            "primal_feasibility_tolerance": _TOLERANCE,
            "dual_feasibility_tolerance": _TOLERANCE,
        },
    )
    if done.x is None or done.status != 0:
        return None
    matrix = done.x[: size * size].reshape(size, size)
    return GeneralOperator(matrix, float(np.diag(matrix) @ frequency))


def _ratios(size: int, bounded: npt.NDArray[np.intp], gamma: Floats, directions: Directions) -> Any:
    """The rows of a x <= 0; x holds P row by row, then l, then u."""
    every, least = np.arange(size * size), size * size
    row = np.repeat(np.arange(size), len(bounded))
    entry = row * size + np.tile(bounded, size)
    ratio = np.tile(gamma, size)
    one = np.ones(size * size)
    parts = [(least + every // size, every, one), (entry, least + row, ratio)]
    if directions is Directions.BOTH:
        largest = least + size
        parts += [(every, largest + every // size, one), (largest + row, entry, ratio)]
    low, high, times = map(np.concatenate, zip(*parts, strict=True))
    number = np.arange(len(low))
    places = np.concatenate([number, number]), np.concatenate([low, high])
    unknowns = size * size + 2 * size
    return sparse.csr_array((np.concatenate([np.ones(len(low)), -times]), places), shape=(len(low), unknowns))


def _column_sums(size: int) -> Any:
    """The rows of a x = 1."""
    every = np.arange(size * size)
    return sparse.csr_array((np.ones(size * size), (every % size, every)), shape=(size, size * size + 2 * size))
