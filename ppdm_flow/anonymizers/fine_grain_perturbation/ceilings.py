"""How high a retention probability may be, given the largest of the others."""

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
