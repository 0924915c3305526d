"""The posteriors of an operator, in whichever form it is."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.requirements.sensitivities import matrix_posteriors, posteriors
from ppdm_flow.requirements.sensitivities.bounds import Bounds
from ppdm_flow.requirements.sensitivities.posteriors import Posteriors, Telling
from ppdm_flow.sdk.anonymizer import ValueOperator
from ppdm_flow.sdk.matrix_operator import MatrixOperator

Floats = npt.NDArray[np.float64]


def worst_posteriors(operator: ValueOperator, bounds: Bounds) -> Posteriors:
    """Return the worst posteriors under each bound, over all priors that it is about."""
    if isinstance(operator, MatrixOperator):
        return matrix_posteriors.worst_posteriors(operator.transition, bounds)
    return posteriors.worst_posteriors(operator.retention, bounds)


def posteriors_at(operator: ValueOperator, prior: Floats) -> Posteriors:
    """Return the highest and the lowest posterior of each value at one ``prior`` (m,)."""
    if isinstance(operator, MatrixOperator):
        return matrix_posteriors.posteriors_at(operator.transition, prior)
    return posteriors.posteriors_at(operator.retention, prior)


def most_telling(operator: ValueOperator, prior: Floats) -> Telling:
    """Return the released value that tells most of each value at ``prior`` (m,)."""
    if isinstance(operator, MatrixOperator):
        return matrix_posteriors.most_telling(operator.transition, prior)
    return posteriors.most_telling(operator.retention, prior)


def amplification(operator: ValueOperator) -> float:
    """Return the largest ratio of two probabilities of one released value: infinite where one of them is 0."""
    if isinstance(operator, MatrixOperator):
        return matrix_posteriors.amplification(operator.transition)
    return posteriors.amplification(operator.retention)
