"""Shadow prices: how much record utility a little more of one value's r2 buys.

The derivatives of V(gamma) = max sum f_i p_i follow from where the optimum stands (see :mod:`optimum`). Raising
gamma_i lifts h_i alone. At the level u a value with t_i > u is held by others: price 0. One with t_i < u gains
f_i dh_i(u). Where u stands on t_i itself, or where h_i falls to zero, u moves along, and all that follow u gain or
lose with it. These are the sums of the duals of the linear program. Where several values stand in one place the duals
are not unique, and the prices of raising and of lowering differ; there, and where one value stands above all others,
the program is solved again a little to either side.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.anonymizers.fine_grain_perturbation.ceilings import Branches, Ceilings, Floats
from ppdm_flow.anonymizers.fine_grain_perturbation.optimum import optimal_retention
from ppdm_flow.core.roles import Directions

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
    again = np.flatnonzero(bounded)[doubtful]
    raising[again], lowering[again] = _resolved(frequency, slack, directions, again)
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
