"""From a sensitivity requirement to the amplification bound gamma of every value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.requirements import Sensitivity

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Bounds:
    """``slack`` is gamma - 1, shape (m,), in (0, inf]: inf is a value without a bound. ``r2`` is nan for those.

    Kept as gamma - 1 = (r2 - r1) / (r1 (1 - r2)), which loses no digits where r1 and r2 are close.
    """

    slack: Floats
    r2: Floats

    @property
    def gamma(self) -> Floats:
        """Gamma: r2 (1 - r1) / (r1 (1 - r2)) (Chaytor and Wang, Theorem 1)."""
        return self.slack + 1.0


def bounds_of(requirement: Sensitivity, domain: Sequence[str | None], frequency: Floats) -> Bounds:
    """Give every value of ``domain`` its bound: its own, else the default, else none.

    With a tolerance theta, r1 = f and r2 = theta f, so gamma = theta (1 - f) / (1 - theta f); no bound from
    f = 1/theta on, where r2 reaches 1; for f = 0 the limit theta. The missing value takes the default.
    """
    slack, r2 = _defaults(requirement, frequency)
    own = {b.value: b for b in requirement.bounds}
    for place, value in enumerate(domain):
        bound = own.get(value) if value is not None else None
        if bound is not None:
            slack[place], r2[place] = slack_of(bound.r1, bound.r2), bound.r2
    return Bounds(slack, r2)


def slack_of(r1: float, r2: float) -> float:
    """Return gamma - 1. Raises ValueError unless 0 < r1 < r2 < 1.

    >>> slack_of(0.25, 0.5)
    2.0
    """
    if not 0.0 < r1 < r2 < 1.0:
        raise ValueError("a bound needs 0 < r1 < r2 < 1")
    return (r2 - r1) / (r1 * (1.0 - r2))


def _defaults(requirement: Sensitivity, frequency: Floats) -> tuple[Floats, Floats]:
    size = len(frequency)
    if requirement.tolerance is not None:
        return _tolerated(requirement.tolerance, frequency)
    if requirement.default is not None:
        r1, r2 = requirement.default
        return np.full(size, slack_of(r1, r2)), np.full(size, r2)
    return np.full(size, np.inf), np.full(size, np.nan)


def _tolerated(theta: float, frequency: Floats) -> tuple[Floats, Floats]:
    room = 1.0 - theta * frequency
    bounded = room > 0.0
    slack = np.divide(theta - 1.0, room, out=np.full(len(frequency), np.inf), where=bounded)
    return slack, np.where(bounded, theta * frequency, np.nan)
