"""The figure of every class for one released sensitive column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from ppdm_flow.audits.classes.histograms import Histograms
from ppdm_flow.core.anonymity import OnSensitive
from ppdm_flow.core.requirements import TOLERANCE

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
        slack = TOLERANCE * max(1.0, abs(bound))
        return np.asarray(self.each > bound + slack if at_most else self.each < bound - slack)

    def worst(self, *, at_most: bool) -> float | None:
        """Return the worst figure; None where there is no class, or none of a class."""
        if not len(self.each):
            return None
        value = float(self.each.max() if at_most else self.each.min())
        return value if np.isfinite(value) else None
