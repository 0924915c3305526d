"""One requirement on one released column: margins, and what stands against them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.roles import Directions
from ppdm_flow.mining.reconstruction.histogram import Domain
from ppdm_flow.requirements.sensitivities.bounds import PosteriorBounds
from ppdm_flow.requirements.sensitivities.fit.bytes_check import BytesCheck
from ppdm_flow.requirements.sensitivities.observed import ObservedHits
from ppdm_flow.requirements.sensitivities.people import PersonDraws
from ppdm_flow.requirements.sensitivities.posteriors import PosteriorRange
from ppdm_flow.requirements.sensitivities.replay import Replay
from ppdm_flow.requirements.sensitivities.requirement import Sensitivity

Floats = npt.NDArray[np.float64]

NO_BOUND = -1.0
"""The margin where no value is bounded: no posterior can lie further below its limit."""


@dataclass(frozen=True, slots=True, eq=False)
class PosteriorJudgement:
    """``posteriors`` (b,) over all priors, in step with ``bounds``; ``at_prior`` (m,) of each value at the data's own.

    A value with several bounds has as many rows: each must hold. ``doubt`` says why the operator cannot be relied on,
    or is empty; then ``bytes_check`` is what the bytes say. ``observed`` are the posteriors counted over pairs,
    ``replayed`` what the policy's own seed gives away. ``drawn`` are the draws of people, where they have several rows,
    and ``per_person`` for how many different values of one it is judged.
    """

    requirement: Sensitivity
    column: str
    domain: Domain
    frequency: Floats
    bounds: PosteriorBounds
    posteriors: PosteriorRange
    at_prior: PosteriorRange
    amplification: float
    doubt: str
    bytes_check: BytesCheck
    observed: ObservedHits | None = None
    replayed: Replay | None = None
    drawn: PersonDraws | None = None
    per_person: int = 1

    @property
    def upward(self) -> Floats:
        """The margin posterior - r2 of each bound, shape (b,); -1 where there is none."""
        return np.where(self.bounds.judged, np.nan_to_num(self.posteriors.upward - self.bounds.r2), NO_BOUND)

    @property
    def downward(self) -> Floats:
        """The margin r1 - posterior of each bound, shape (b,); -1 where there is none."""
        return np.where(self.bounds.judged, np.nan_to_num(self.bounds.r1 - self.posteriors.downward), NO_BOUND)

    @property
    def margins(self) -> Floats:
        """The margin that each bound is judged by."""
        if self.requirement.directions is Directions.UPWARD:
            return self.upward
        return np.maximum(self.upward, self.downward)

    @property
    def margin(self) -> float:
        """The worst margin; the requirement holds at most at 0."""
        return float(self.margins.max(initial=NO_BOUND))

    @property
    def worst_upward(self) -> float | None:
        """The highest posterior under the bound with the worst upward margin."""
        return float(self.posteriors.upward[self.upward.argmax()]) if self.bounds.judged.any() else None

    @property
    def worst_downward(self) -> float | None:
        """The lowest posterior under the bound with the worst downward margin."""
        return float(self.posteriors.downward[self.downward.argmax()]) if self.bounds.judged.any() else None

    @property
    def gamma(self) -> Floats:
        """Gamma of each value's strictest bound, shape (m,) (Chaytor and Wang, equation 5); inf without a bound."""
        out, judged = np.full(len(self.domain), np.inf), self.bounds.judged
        r1, r2 = self.bounds.r1[judged], self.bounds.r2[judged]
        np.minimum.at(out, self.bounds.values[judged], r2 * (1.0 - r1) / (r1 * (1.0 - r2)))
        return out

    @property
    def fault(self) -> str:
        """Why the requirement cannot be verified, or nothing."""
        return self.doubt or self.bytes_check.fault

    @property
    def bounded(self) -> npt.NDArray[np.int64]:
        """The places of the values that have a bound, each once, ascending."""
        return np.unique(self.bounds.values[self.bounds.judged])
