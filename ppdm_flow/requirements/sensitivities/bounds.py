"""From a requirement to all (r1, r2) that a release is judged by."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.reconstruction.histogram import Domain
from ppdm_flow.requirements.sensitivities.requirement import Sensitivity
from ppdm_flow.requirements.sensitivities.value_bounds import value_bounds

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class PosteriorBounds:
    """``r1`` and ``r2`` (b,), nan where there is none; ``place`` (b,) of their values in the domain.

    Without ``place`` there is one row for each value, in order. ``known_too_well`` are the places of values that are
    more frequent than an r2 that is about everyone.
    """

    r1: Floats
    r2: Floats
    place: Places | None = None
    known_too_well: Places = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    @property
    def judged(self) -> npt.NDArray[np.bool_]:
        """Which rows are bounds, shape (b,)."""
        return ~np.isnan(self.r1)

    @property
    def values(self) -> Places:
        """The place of each row's value, shape (b,)."""
        return np.arange(len(self.r1)) if self.place is None else self.place


def bounds(requirement: Sensitivity, domain: Domain, frequency: Floats) -> PosteriorBounds:
    """Return every bound of every value: its own, or the default, or none.

    A value that does not occur is not bounded by a tolerance: its r1 and r2 are 0, and no prior can be lower.
    """
    every = value_bounds(requirement, domain, frequency)
    some = every.r1 > 0
    return PosteriorBounds(every.r1[some], every.r2[some], every.place[some], every.known_too_well(frequency))
