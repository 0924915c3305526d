"""Means by group, each with the standard error of a regression on nothing but an intercept."""

from __future__ import annotations

import numpy as np

from ppdm_flow.mining.regression.design import Floats, Integers
from ppdm_flow.mining.regression.fit import Estimates


def group_means(name: str, groups: Integers, size: int, values: Floats, weights: Floats, counts: Floats) -> Estimates:
    """Return the weighted mean of each group that has two rows or more.

    m = sum(w x) / sum(w), se^2 = sum(w (x - m)^2) / ((n - 1) sum(w)), which is s^2 / n without weights.

    Parameters
    ----------
    name
        What terms are called; each has the number of its group.
    groups
        The group of each row, 0 to ``size`` - 1, shape (rows,).
    values, weights, counts
        The number, the weight and how many rows a row stands for, shape (rows,).
    """
    rows = np.bincount(groups, counts, size)
    weight = np.bincount(groups, weights, size)
    kept = np.flatnonzero((rows > 1) & (weight > 0))
    with np.errstate(divide="ignore", invalid="ignore"):
        means = np.bincount(groups, weights * values, size) / weight
    apart = values - means[groups]
    squares = np.bincount(groups, weights * apart * apart, size)[kept]
    errors = np.sqrt(squares / ((rows[kept] - 1) * weight[kept]))
    return Estimates(tuple((name, int(g)) for g in kept), means[kept], errors, (rows[kept] - 1).astype(np.float64))
