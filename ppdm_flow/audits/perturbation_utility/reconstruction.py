"""Estimating the original frequencies from the released ones and the operator."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

STILL = 1e-10
"""Total variation between two rounds below which the iteration has settled."""


def by_inverse(retention: Floats, released: Floats) -> Floats:
    """Solve P f = r for f, in linear time (Sherman and Morrison, with sum f = 1); negative estimates become 0.

    Row j says p_j f_j + c = r_j, where c = sum of q_k f_k is the same for all j. So c follows from sum f = 1, or from
    a value with p = 0. Several values with p = 0 cannot be told apart: they share what is left equally.

    Parameters
    ----------
    retention : p of shape (m,)
    released : r of shape (m,), shares that sum to 1

    Returns
    -------
    Shares of shape (m,), scaled to sum to 1.
    """
    kept = retention > 0
    if kept.all():
        common = (float((released / retention).sum()) - 1.0) / float((1.0 / retention).sum())
    else:
        common = float(released[~kept].mean())
    found = np.zeros(len(retention))
    found[kept] = (released[kept] - common) / retention[kept]
    if not kept.all():
        found[~kept] = (1.0 - found.sum()) / int((~kept).sum())
    clipped = np.maximum(found, 0.0)
    total = clipped.sum()
    return clipped / total if total > 0 else np.full(len(retention), 1.0 / len(retention))


def by_iteration(retention: Floats, released: Floats, rounds: int) -> Floats:
    """Return the maximum-likelihood shares by iterative Bayesian reconstruction, from uniform ones.

    f_i becomes f_i times the sum over j of r_j P[j,i] / (P f)_j (Agrawal and Aggarwal, PODS 2001, section 4), in
    linear time for each round, since P = diag(p) + 1 q^T.
    """
    m = len(retention)
    leave = (1.0 - retention) / m
    shares = np.full(m, 1.0 / m)
    for _ in range(rounds):
        expected = retention * shares + float(leave @ shares)
        ratio = np.divide(released, expected, out=np.zeros(m), where=expected > 0)
        following = shares * (retention * ratio + leave * ratio.sum())
        following /= following.sum()
        moved = 0.5 * float(np.abs(following - shares).sum())
        shares = following
        if moved < STILL:
            break
    return shares


def agreement(shares: Floats, original: Floats) -> float:
    """Return 1 - total variation distance: 1 for equal shares, 0 for disjoint ones."""
    return 1.0 - 0.5 * float(np.abs(shares - original).sum())
