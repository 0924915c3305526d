"""From a requirement to (r1, r2) of every value of the domain."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.audits.histogram import Domain
from ppdm_flow.core.requirements import Sensitivity

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Bounds:
    """``r1`` and ``r2`` (m,): nan where the value has no bound."""

    r1: Floats
    r2: Floats

    @property
    def judged(self) -> npt.NDArray[np.bool_]:
        """Which values have a bound, shape (m,)."""
        return ~np.isnan(self.r1)


def bounds(requirement: Sensitivity, domain: Domain, frequency: Floats) -> Bounds:
    """Return the bound of each value: its own, or the default, or none.

    With a tolerance theta, r1 = f and r2 = theta f (Chaytor and Wang, section 5). A value whose theta f reaches 1 is
    not bounded, nor is one that does not occur: its r1 and r2 are 0, and no prior can be lower.
    """
    r1, r2 = np.full(len(domain), np.nan), np.full(len(domain), np.nan)
    if requirement.tolerance is not None:
        bounded = (frequency > 0) & (requirement.tolerance * frequency < 1)
        r1[bounded], r2[bounded] = frequency[bounded], requirement.tolerance * frequency[bounded]
    elif requirement.default is not None:
        r1[:], r2[:] = requirement.default
    of_value = {b.value: b for b in requirement.bounds}
    for i, value in enumerate(domain):
        own = of_value.get(value) if value is not None else None
        if own is not None:
            r1[i], r2[i] = own.r1, own.r2
    return Bounds(r1, r2)
