"""The posteriors of an operator, in whichever form it is."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.requirements.sensitivities import matrix_posteriors, posteriors
from ppdm_flow.requirements.sensitivities.bounds import PosteriorBounds
from ppdm_flow.requirements.sensitivities.posteriors import PosteriorRange, TellingValues
from ppdm_flow.sdk.anonymizer import ValueOperator
from ppdm_flow.sdk.matrix_operator import MatrixOperator

Floats = npt.NDArray[np.float64]


def worst_posteriors(operator: ValueOperator, bounds: PosteriorBounds, per_person: int = 1) -> PosteriorRange:
    """Return the worst posteriors under each bound, over all priors that it is about.

    ``per_person`` is the largest number of different values of a person, each with a draw of its own.
    """
    if per_person > 1:
        return joint_posteriors(amplification(operator), per_person, bounds)
    if isinstance(operator, MatrixOperator):
        return matrix_posteriors.worst_posteriors(operator.transition, bounds)
    return posteriors.worst_posteriors(operator.retention, bounds)


def joint_posteriors(amplification: float, per_person: int, bounds: PosteriorBounds) -> PosteriorRange:
    """Return the worst posteriors after ``per_person`` draws, over all joint priors of a person's different values.

    Two hypotheses about all values of a person differ in each draw by a ratio of at most ``amplification`` A, so in
    all n of them by at most A^n: the odds of a value that a prior gives r1 rise by at most that, and those of r2 fall
    by no more. Priors that tie the other values to the bounded one come there, as far as the domain has values.
    """
    exponent = per_person * np.log(amplification)
    with np.errstate(over="ignore"):
        shrunk, grown = np.exp(-exponent), np.exp(exponent)
    upward = bounds.r1 / (bounds.r1 + (1.0 - bounds.r1) * shrunk)
    downward = bounds.r2 / (bounds.r2 + (1.0 - bounds.r2) * grown)
    return PosteriorRange(upward, downward)


def posteriors_at(operator: ValueOperator, prior: Floats) -> PosteriorRange:
    """Return the highest and the lowest posterior of each value at one ``prior`` (m,)."""
    if isinstance(operator, MatrixOperator):
        return matrix_posteriors.posteriors_at(operator.transition, prior)
    return posteriors.posteriors_at(operator.retention, prior)


def most_telling(operator: ValueOperator, prior: Floats) -> TellingValues:
    """Return the released value that tells most of each value at ``prior`` (m,)."""
    if isinstance(operator, MatrixOperator):
        return matrix_posteriors.most_telling(operator.transition, prior)
    return posteriors.most_telling(operator.retention, prior)


def amplification(operator: ValueOperator) -> float:
    """Return the largest ratio of two probabilities of one released value: infinite where one of them is 0."""
    if isinstance(operator, MatrixOperator):
        return matrix_posteriors.amplification(operator.transition)
    return posteriors.amplification(operator.retention)
