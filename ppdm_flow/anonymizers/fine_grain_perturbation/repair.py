"""Making an operator hold its bounds in floating point too, not only on paper."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.roles import Directions

Floats = npt.NDArray[np.float64]


def strictly_feasible(retention: Floats, slack: Floats, directions: Directions) -> Floats:
    """Return p scaled down by as little as makes every amplification at most gamma, as computed in doubles.

    All constraints are of the form a p_i + b p_j <= c with a, b, c >= 0, so a scaled-down p satisfies them too, and
    p = 0 satisfies them all: the search ends.
    """
    shrink = float(np.finfo(np.float64).eps)
    scaled = retention
    while worst_excess(scaled, slack, directions) > 0.0:
        scaled = retention * (1.0 - min(shrink, 1.0))
        shrink *= 2.0
    return scaled


def worst_excess(retention: Floats, slack: Floats, directions: Directions) -> float:
    """Return the largest amplification / gamma - 1 over all values and directions (-1 without any bound).

    Upward at i: P[i,i] / min_k P[i,k] = ((m-1) p_i + 1) / (1 - M_i), M_i the largest p_k with k != i. Downward at i:
    max_j P[j,j] / P[j,i] = ((m-1) M_i + 1) / (1 - p_i).
    """
    bounded = np.isfinite(slack)
    size = len(retention)
    if size == 1 or not bounded.any():
        return -1.0
    own, other, gamma = retention[bounded], _largest_other(retention)[bounded], slack[bounded] + 1.0
    excess = [_ratio((size - 1) * own + 1.0, 1.0 - other, gamma)]
    if directions is Directions.BOTH:
        excess.append(_ratio((size - 1) * other + 1.0, 1.0 - own, gamma))
    return float(max(e.max() for e in excess))


def _ratio(numerator: Floats, denominator: Floats, gamma: Floats) -> Floats:
    part: Floats = np.divide(numerator, denominator, out=np.full(len(gamma), np.inf), where=denominator > 0.0)
    excess: Floats = part / gamma - 1.0
    return excess


def _largest_other(values: Floats) -> Floats:
    top = int(np.argmax(values))
    out = np.full(len(values), values[top])
    out[top] = np.delete(values, top).max()
    return out
