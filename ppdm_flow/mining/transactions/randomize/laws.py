"""Laws as whole numbers that random words are compared with."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.transactions.operators import Operator

Limits = npt.NDArray[np.uint64]

PRECISION = 53
"""Bits of the number that a law is read with."""


def thresholds(operator: Operator) -> Limits:
    """Return row m: how many items of t stay is the number of entries that a uniform number of 53 bits reaches.

    Shape (m_max + 1, m_max + 1); rows of sizes that do not occur are 0. What has no probability is never drawn: the
    law's end is exactly 2^53.
    """
    longest = operator.sizes[-1]
    limits = np.zeros((longest + 1, longest + 1), dtype=np.uint64)
    for size in operator.sizes:
        law = operator.law(size)
        reached = np.round(np.cumsum(law) * float(1 << PRECISION)).astype(np.uint64)
        reached[np.flatnonzero(law)[-1] :] = 1 << PRECISION
        limits[size, : size + 1] = np.minimum(reached, np.uint64(1 << PRECISION))
        limits[size, size + 1 :] = 1 << PRECISION
    return limits
