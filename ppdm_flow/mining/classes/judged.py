"""The figure of every class for one released sensitive column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.requirement import TOLERANCE, OnSensitive
from ppdm_flow.mining.exposure.histograms import Histograms

Floats = npt.NDArray[np.float64]
R = TypeVar("R", bound=OnSensitive)


@dataclass(frozen=True, slots=True, eq=False)
class Judged(Generic[R]):
    """One released column: ``each`` (classes,) is its figure in every class, infinite where it has none."""

    requirement: R
    column: str
    grouping: tuple[str, ...]
    found: Histograms
    each: Floats

    def beyond(self, bound: float, *, at_most: bool) -> npt.NDArray[np.bool_]:
        """Return which classes break the bound."""
        return exceeding(self.each, bound, at_most=at_most)

    def worst(self, *, at_most: bool) -> float | None:
        """Return the worst figure; None where there is no class, or none of a class."""
        return worst_of(self.each, at_most=at_most)


def exceeding(each: Floats, bound: float, *, at_most: bool) -> npt.NDArray[np.bool_]:
    """Return which figures break a bound, with the tolerance of every comparison."""
    slack = TOLERANCE * max(1.0, abs(bound))
    return np.asarray(each > bound + slack if at_most else each < bound - slack)


def worst_of(each: Floats, *, at_most: bool) -> float | None:
    """Return the worst of the figures of classes; None where there is none, or it is infinite."""
    if not len(each):
        return None
    value = float(each.max() if at_most else each.min())
    return value if np.isfinite(value) else None
