"""What the report says of a transition matrix, and what its recipients get."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ppdm_flow.anonymizers.fine_grain_perturbation.account import as_written
from ppdm_flow.anonymizers.pram.spec import PramParams
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.results import Figure, Finding
from ppdm_flow.mining.reconstruction.matrix_channel import WORST, condition
from ppdm_flow.requirements.sensitivities.requirement import Sensitivity
from ppdm_flow.requirements.sensitivities.value_bounds import stated_gamma
from ppdm_flow.sdk.matrix_operator import MatrixOperator

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class RandomizedAttribute:
    """An attribute with its ``operator``; ``frequency`` (m,) are the shares of its values before.

    ``from_data``: the domain is what occurs. ``requirement`` is what the matrix was made for, if it was for one.
    """

    operator: MatrixOperator
    frequency: Floats
    from_data: bool
    requirement: Sensitivity | None = None


def figures(every: Sequence[RandomizedAttribute]) -> dict[str, Figure]:
    """Return the figures of every matrix; their names carry the attribute where there are several."""
    all_figures: dict[str, Figure] = {}
    for one in every:
        prefix = f"{one.operator.attribute}." if len(every) > 1 else ""
        matrix, stay = one.operator.transition, one.operator.staying
        moved = 0.5 * float(np.abs(one.frequency @ matrix - one.frequency).sum())
        number = condition(matrix)
        note = "" if number <= WORST else "the matrix cannot be inverted"
        all_figures |= {
            f"{prefix}record_utility": Figure(float(one.frequency @ stay), "probability"),
            f"{prefix}lowest_staying": Figure(float(stay.min()), "probability"),
            f"{prefix}highest_staying": Figure(float(stay.max()), "probability"),
            f"{prefix}expected_shift": Figure(moved, "share"),
            f"{prefix}condition": Figure(number if number <= WORST else None, "ratio", note=note),
        }
    return all_figures


def findings(one: RandomizedAttribute, params: PramParams) -> Iterator[Finding]:
    """Yield what a reader should know: frequencies given away, a matrix without an inverse, a domain of the data."""
    name = one.operator.attribute
    if params.by_frequency:
        text = (
            f"the matrix of `{name}` was made from how often each value occurs: whoever gets its operator works out the"
            " exact shares of the original, and from those of two releases who was added or left out"
        )
        yield Finding("PPF647", Severity.INFO, text, name)
    if condition(one.operator.transition) > WORST:
        text = f"the matrix of `{name}` cannot be inverted: nobody can reconstruct its frequencies from the release"
        yield Finding("PPF869", Severity.WARNING, text, name)
    if one.from_data:
        text = f"The domain of `{name}` was taken from the data: {one.operator.size} values."
        yield Finding("PPF794", Severity.INFO, text, name)


def artifact(every: Sequence[RandomizedAttribute], params: PramParams) -> dict[str, Any]:
    """Return the content of ``operator.json``: all that estimating from the released data needs."""
    how = "invariant" if params.invariant else "retain" if params.retain is not None else "stated"
    how = "posterior" if params.posterior is not None else how
    made = "bounds" if params.derived else how
    return {"version": 1, "operators": [{**one.operator.document(), "made": made, **_asked(one)} for one in every]}


def _asked(one: RandomizedAttribute) -> Mapping[str, Any]:
    """Return the bounds as the policy states them, where the matrix was made for them."""
    if one.requirement is None:
        return {}
    return {
        "directions": str(one.requirement.directions),
        "bounds": as_written(one.requirement),
        "gamma": stated_gamma(one.requirement, one.operator.domain),
    }
