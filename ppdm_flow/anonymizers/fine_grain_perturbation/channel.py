"""One perturbed attribute: the operator, what it was computed from, and what is to be said about it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.anonymizers.fine_grain_perturbation.bounds import Bounds
from ppdm_flow.anonymizers.fine_grain_perturbation.choice import Choice
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.results import Finding
from ppdm_flow.requirements.sensitivities.requirement import Sensitivity
from ppdm_flow.sdk.anonymizer import Operator


@dataclass(frozen=True, slots=True, eq=False)
class Channel:
    """``kind`` is ``fine_grain`` or ``uniform``; ``choice`` the operators that there were, ``rows`` how many rows."""

    requirement: Sensitivity
    operator: Operator
    kind: str
    frequency: npt.NDArray[np.float64]
    bounds: Bounds
    choice: Choice
    rows: int


def findings(channel: Channel) -> Iterator[Finding]:
    """Yield what a reader should know: values known too well, a domain taken from the data, an empty channel."""
    name = channel.requirement.attribute
    yield from _known_too_well(channel)
    if channel.requirement.domain is None:
        text = f"The domain of `{name}` was taken from the data: {channel.operator.size} values."
        yield Finding("PPF794", Severity.INFO, text, name)
    if channel.operator.size > 1 and not (channel.operator.retention > 0).any():
        text = f"The bounds on `{name}` leave nothing of it: every cell is a uniform draw."
        yield Finding("PPF795", Severity.WARNING, text, name)


def _known_too_well(channel: Channel) -> Iterator[Finding]:
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
        yield Finding("PPF793", Severity.WARNING, text, f"{name}={value}")
    if unnamed:
        text = f"The shares of {unnamed} values of `{name}` exceed r2 already: they are known too well beforehand."
        yield Finding("PPF793", Severity.WARNING, text, name)
