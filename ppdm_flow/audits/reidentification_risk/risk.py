"""The risks of rows or of people, summed up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ReidentificationRisk:
    """``highest`` of any row, ``average`` over rows, ``at_risk``: the share of rows above the threshold.

    ``at_highest`` is the share of rows that have the highest. Of people where ``unit`` says so. None is not known, for
    the reason ``unmeasured``.
    """

    highest: float | None
    average: float | None
    at_risk: float | None
    at_highest: float | None
    unit: str = "rows"
    note: str = ""
    unmeasured: str = ""


def risk_of_rows(released: Integers, population: Integers, threshold: float, note: str = "") -> ReidentificationRisk:
    """Return the risk where a row of class j is found out with probability 1 / ``population``[j]; no row is no risk."""
    total = int(released.sum())
    if total == 0:
        return ReidentificationRisk(0.0, 0.0, 0.0, 0.0, note=note)
    each = 1.0 / population
    return ReidentificationRisk(
        float(each.max()),
        float((released * each).sum() / total),
        float(released[each > threshold].sum() / total),
        float(released[population == population.min()].sum() / total),
        note=note,
    )


def risk_of_people(each: Floats, threshold: float, note: str = "") -> ReidentificationRisk:
    """Return the risk of people who are found out with the probabilities ``each`` (people,); nobody is no risk."""
    if not len(each):
        return ReidentificationRisk(0.0, 0.0, 0.0, 0.0, "people", note)
    highest = float(each.max())
    return ReidentificationRisk(
        highest,
        float(each.mean()),
        float((each > threshold).mean()),
        float((each == highest).mean()),
        "people",
        note,
    )
