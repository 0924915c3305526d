"""One perturbed attribute: the operator that the step takes, what it was computed from, and its findings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.anonymizers.fine_grain_perturbation.aggregate import Aggregate, aggregate_retention
from ppdm_flow.anonymizers.fine_grain_perturbation.bounds import AmplificationBounds
from ppdm_flow.anonymizers.fine_grain_perturbation.ceilings import Floats
from ppdm_flow.anonymizers.fine_grain_perturbation.optimum import optimal_retention, uniform_retention
from ppdm_flow.anonymizers.fine_grain_perturbation.spec import FineGrainParams
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.results import Finding
from ppdm_flow.core.roles import Directions
from ppdm_flow.requirements.sensitivities.requirement import Sensitivity
from ppdm_flow.sdk.anonymizer import Operator

COMPARED = 100
"""Values up to which the operator of least reconstruction error is found for comparison even if it is not wanted."""


@dataclass(frozen=True, slots=True, eq=False)
class RetentionChoice:
    """Retention probabilities of shape (m,): chosen ones, the best uniform ones, those of greatest record utility.

    ``aggregate`` has those of least reconstruction error; None where m is large and they are not wanted.
    """

    chosen: Floats
    uniform: Floats
    record: Floats
    aggregate: Aggregate | None

    @classmethod
    def of(cls, params: FineGrainParams, frequency: Floats, slack: Floats, directions: Directions) -> RetentionChoice:
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


@dataclass(frozen=True, slots=True, eq=False)
class PerturbationChannel:
    """``kind`` is ``fine_grain`` or ``uniform``; ``choice`` the operators that there were, ``rows`` how many rows."""

    requirement: Sensitivity
    operator: Operator
    kind: str
    frequency: npt.NDArray[np.float64]
    bounds: AmplificationBounds
    choice: RetentionChoice
    rows: int


def findings(channel: PerturbationChannel) -> Iterator[Finding]:
    """Yield what a reader should know: values known too well, a domain taken from the data, an empty channel."""
    name = channel.requirement.attribute
    yield from _known_too_well(channel)
    if channel.requirement.domain is None:
        text = f"The domain of `{name}` was taken from the data: {channel.operator.size} values."
        yield Finding("PPF794", Severity.INFO, text, name)
    if channel.operator.size > 1 and not (channel.operator.retention > 0).any():
        text = f"The bounds on `{name}` leave nothing of it: every cell is a uniform draw."
        yield Finding("PPF795", Severity.WARNING, text, name)


def _known_too_well(channel: PerturbationChannel) -> Iterator[Finding]:
    """One finding for each value with a bound of its own, one for all others: they are not named."""
    name = channel.requirement.attribute
    own = {b.value for b in channel.requirement.bounds}
    over = channel.bounds.every.known_too_well(channel.frequency)
    unnamed = 0
    for place in over.tolist():
        value = channel.operator.domain[place]
        if value not in own:
            unnamed += 1
            continue
        text = f"The share of `{value}` in `{name}` exceeds its r2 already: it is known too well beforehand."
        yield Finding("PPF741", Severity.WARNING, text, f"{name}={value}")
    if unnamed:
        text = f"The shares of {unnamed} values of `{name}` exceed r2 already: they are known too well beforehand."
        yield Finding("PPF741", Severity.WARNING, text, name)
