"""Estimating the original frequencies from the released ones and the operator, as a recipient would."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.reconstruction.channel import Channel
from ppdm_flow.mining.reconstruction.estimate import nearest
from ppdm_flow.mining.reconstruction.likelihood import iterate, maximum

Floats = npt.NDArray[np.float64]

STILL = 1e-10
"""Log-likelihood for each record that the iteration may leave to be gained."""


def by_inverse(retention: Floats, released: Floats) -> Floats:
    """Solve P f = r for f, in linear time; the nearest shares that could be where some estimate is negative.

    Values with p = 0 that cannot be told apart share what is left equally.

    Parameters
    ----------
    retention : p of shape (m,)
    released : r of shape (m,), shares that sum to 1

    Returns
    -------
    Shares of shape (m,), not negative, with sum 1.
    """
    channel = Channel.of(retention)
    return nearest(channel, channel.solve(released), np.asarray(released.sum()))


def by_iteration(retention: Floats, released: Floats, rounds: int, start: Floats | None = None) -> Floats:
    """Return the maximum-likelihood shares by iterative Bayesian reconstruction, from uniform ones or from ``start``.

    f_i becomes f_i times the sum over j of r_j P[j,i] / (P f)_j (Agrawal and Aggarwal, PODS 2001, section 4), in
    linear time for each round.
    """
    iterated = iterate(Channel.of(retention), released, start, rounds, STILL, accelerated=False)
    return iterated.counts


def most_likely(retention: Floats, released: Floats) -> Floats:
    """Return the shares where that iteration ends, directly."""
    channel = Channel.of(retention)
    return maximum(channel, released, channel.solve(released))


def agreement(shares: Floats, original: Floats) -> float:
    """Return 1 - total variation distance: 1 for equal shares, 0 for disjoint ones."""
    return 1.0 - 0.5 * float(np.abs(shares - original).sum())
