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
