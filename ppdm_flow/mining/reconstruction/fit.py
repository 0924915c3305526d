"""Whether released counts look as if the operator had made them."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.reconstruction.channel import Channel
from ppdm_flow.mining.reconstruction.estimate import nearest
from ppdm_flow.mining.reconstruction.variance import variances

ERROR = 1e-6
"""How often counts that the operator did make are called misfits, at most about."""
_LEAST_ROWS = 100


def misfit(channel: Channel, released: npt.ArrayLike) -> bool:
    """Whether some count cannot come from any original table, but for chance, by a test per value (Bonferroni).

    Either an estimate lies below 0 by more standard errors than chance allows, or counts of values that nothing but
    chance tells apart differ too much. ``released`` has shape (m,); fewer than 100 rows fit anything.
    """
    counts = np.asarray(released, dtype=np.float64)
    total = counts.sum()
    if total < _LEAST_ROWS:
        return False
    limit = -NormalDist().inv_cdf(ERROR / (2 * channel.size))
    unbiased = channel.solve(counts)
    errors = np.sqrt(variances(channel, nearest(channel, unbiased, np.asarray(total))))
    below = unbiased < -limit * errors - 1e-6 * total
    alike = counts[channel.alike]
    apart = np.abs(alike - alike.mean()) > limit * np.sqrt(alike.mean()) + limit**2 if len(alike) else below[:0]
    return bool(below.any() or apart.any())
