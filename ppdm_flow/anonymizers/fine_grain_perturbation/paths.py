"""Paths that pass above every operator: one level path, and one for each dominant value.

Whatever p holds the bounds, some p on a path with the same largest entry is nowhere below it (see :mod:`optimum`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.anonymizers.fine_grain_perturbation.ceilings import Ceilings, Floats
from ppdm_flow.core.roles import Directions

_COARSE = 48
_FINE = 17
_ROUNDS = 12
_NUMBERS = 1 << 18


@dataclass(frozen=True, slots=True, eq=False)
class Path:
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


def level_path(slack: Floats, directions: Directions) -> Path:
    """Return p_j = min(u, h_j(u)): with two values or more at the largest p."""
    bounded = np.isfinite(slack)
    ceilings = Ceilings.of(slack[bounded], len(slack), directions)

    def at(levels: Floats) -> Floats:
        out = np.repeat(levels[:, None], len(slack), axis=1)
        out[:, bounded] = np.minimum(out[:, bounded], ceilings.at(levels[:, None]))
        return np.maximum(out, 0.0)

    return Path(len(slack), 0.0, float(ceilings.reach.min()), at)


def single_path(slack: Floats, directions: Directions, top: int) -> Path:
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

    return Path(len(slack), start, stop, at)
