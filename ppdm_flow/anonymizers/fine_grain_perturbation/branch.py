"""How the ceilings h_j move when gamma_j does."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.anonymizers.fine_grain_perturbation.ceilings import Floats
from ppdm_flow.core.roles import Directions


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
        found: Floats = self.size / (self.gamma - 1.0 + self.size) ** 2
        return found

    def reach_rate(self) -> Floats:
        """How fast the place where h falls to zero moves with gamma."""
        return np.where(self.steep_is_upward, self.gamma**-2.0, 1.0 / (self.size - 1))

    def rise_after(self, level: float) -> Floats:
        """dh/dgamma at a level beyond t."""
        return np.where(self.steep_is_upward, self._upward(level), self._downward(level))

    def rise_before(self, level: float) -> Floats:
        """dh/dgamma at a level before t."""
        if self.directions is Directions.UPWARD:
            return self._upward(level)
        return np.where(self.steep_is_upward, self._downward(level), self._upward(level))

    def _upward(self, level: float) -> Floats:
        return np.full(len(self.gamma), (1.0 - level) / (self.size - 1))

    def _downward(self, level: float) -> Floats:
        found: Floats = (1.0 + (self.size - 1) * level) / self.gamma**2
        return found
