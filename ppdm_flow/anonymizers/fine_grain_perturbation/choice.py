"""Which operator a step takes, and which others there were."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ppdm_flow.anonymizers.fine_grain_perturbation.aggregate import Aggregate, aggregate_retention
from ppdm_flow.anonymizers.fine_grain_perturbation.ceilings import Floats
from ppdm_flow.anonymizers.fine_grain_perturbation.optimum import optimal_retention, uniform_retention
from ppdm_flow.anonymizers.fine_grain_perturbation.spec import FineGrainParams
from ppdm_flow.core.roles import Directions

COMPARED = 100
"""Values up to which the operator of least reconstruction error is found for comparison even if it is not wanted."""


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """Retention probabilities of shape (m,): chosen ones, the best uniform ones, those of greatest record utility.

    ``aggregate`` has those of least reconstruction error; None where m is large and they are not wanted.
    """

    chosen: Floats
    uniform: Floats
    record: Floats
    aggregate: Aggregate | None

    @classmethod
    def of(cls, params: FineGrainParams, frequency: Floats, slack: Floats, directions: Directions) -> Choice:
        """Find them all, and take the one that ``operator`` and ``objective`` ask for."""
        uniform = uniform_retention(slack, directions)
        record = optimal_retention(frequency, slack, directions)
        fine = params.operator == "fine_grain"
        wanted = fine and params.objective == "aggregate"
        aggregate = aggregate_retention(frequency, slack, directions) if wanted or len(frequency) <= COMPARED else None
        if wanted and aggregate is not None:
            return cls(aggregate.retention, uniform, record, aggregate)
        return cls(record if fine else uniform, uniform, record, aggregate)

    @property
    def is_record_optimum(self) -> bool:
        """True where nothing but record utility was asked for."""
        return np.array_equal(self.chosen, self.record)
