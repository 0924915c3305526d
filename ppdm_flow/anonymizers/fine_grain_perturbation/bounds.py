"""From a sensitivity requirement to the amplification bound gamma of every value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.anonymizers.fine_grain_perturbation.people import shared_slack
from ppdm_flow.requirements.sensitivities.requirement import Sensitivity, slack_of
from ppdm_flow.requirements.sensitivities.value_bounds import ValueBounds, value_bounds

__all__ = ["AmplificationBounds", "bounds_of", "slack_of"]

Floats = npt.NDArray[np.float64]


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
