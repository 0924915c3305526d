"""How many of the itemsets that were found are expected not to be frequent, and how many frequent ones were missed.

The true supports of all candidates of one size are taken for draws from an unknown distribution, and their estimates
for these plus normal noise. The distribution that makes the estimates most likely (Kiefer and Wolfowitz, "Consistency
of the maximum likelihood estimator in the presence of infinitely many incidental parameters", 1956) is found on a grid
by EM; under it each candidate has a probability to be frequent, given its estimate (empirical Bayes).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ppdm_flow.mining.transactions.apriori import MinedItemsets
from ppdm_flow.mining.transactions.laws import Floats
from ppdm_flow.mining.transactions.operators import TransactionOperator

ROUNDS = 60
"""Few: more of them gather the distribution in single points, and the numbers get worse, not better."""

PARTS = 10
"""Bins of estimates in one standard error."""

GRID = 160
_NEAR = 6.0
"""Within so many standard errors of the minimum support the grid is fine: elsewhere nothing is in doubt."""

FAR = 7.0
"""Standard errors: by chance the items of some size are so far off once in 10^11 releases."""


@dataclass(frozen=True, slots=True)
class ExpectedErrors:
    """Expected numbers, 0 or more: false positives among what was found, false drops among the other candidates.

    Itemsets that are no candidates, because a part of them was dropped, are not among the false drops.
    """

    false_positives: float
    false_drops: float


def doubts(value: Floats, sigma: Floats, min_support: float) -> ExpectedErrors:
    """Return them for the candidates of one size, by their estimates and standard errors, both of shape (n,)."""
    if len(value) == 0 or not (sigma > 0.0).any():
        return ExpectedErrors(0.0, 0.0)
    value, sigma, counts = _binned(value, np.maximum(sigma, 1e-12))
    grid = _grid(float(value.max()), float(np.median(sigma)), min_support)
    likelihood = _likelihood(value, sigma, grid)
    prior = np.full(len(grid), 0.5 / len(grid))
    prior[0] += 0.5  # most candidates occur hardly at all: from there on EM settles soon
    for _ in range(ROUNDS):
        prior *= (counts / (likelihood @ prior)) @ likelihood / counts.sum()
    joint = likelihood * prior
    frequent, every = grid >= min_support, joint.sum(axis=1)
    above, below = joint[:, frequent].sum(axis=1) / every, joint[:, ~frequent].sum(axis=1) / every  # neither below 0
    accepted = value >= min_support
    return ExpectedErrors(float(counts[accepted] @ below[accepted]), float(counts[~accepted] @ above[~accepted]))


def _binned(value: Floats, sigma: Floats) -> tuple[Floats, Floats, Floats]:
    """Return means of the values and errors in bins much narrower than an error, and how many these are."""
    bins = np.floor(value * (PARTS / float(np.median(sigma)))).astype(np.int64)
    _, place, counts = np.unique(bins, return_inverse=True, return_counts=True)
    means = (np.bincount(place, weights=array) / counts for array in (value, sigma))
    return next(means), next(means), counts.astype(np.float64)


def _grid(highest: float, sigma: float, min_support: float) -> Floats:
    """Return supports from 0 up, the minimum support between two of them."""
    near = min_support + sigma * np.linspace(-_NEAR, _NEAR, GRID // 2)
    wide = np.linspace(0.0, max(highest, min_support) * 1.01, GRID // 2)
    grid = np.unique(np.concatenate([[0.0], near[near > 0.0], wide]))
    return np.asarray(grid[grid != min_support])


def _likelihood(value: Floats, sigma: Floats, grid: Floats) -> Floats:
    """Return the density of each estimate for each true support, scaled by its largest, shape (n, grid)."""
    exponent = -0.5 * ((value[:, None] - grid) / sigma[:, None]) ** 2
    return np.asarray(np.exp(exponent - exponent.max(axis=1, keepdims=True)) + 1e-300)


def misfit(mined: MinedItemsets) -> bool:
    """Whether transactions of some original size have more or fewer items than the operator gives them.

    The mean of |t'| over N_m transactions is held against E|t'| and its standard error.
    """
    items = mined.levels[0].counts.sum(axis=0)
    return any(
        _is_far(mined.operator, m, int(rows), int(items[c]))
        for c, (m, rows) in enumerate(zip(mined.operator.sizes, mined.rows, strict=True))
        if rows
    )


def _is_far(operator: TransactionOperator, size: int, rows: int, items: int) -> bool:
    if operator.refills:
        return items != rows * (size + operator.inserted)
    law, kept = operator.law(size), np.arange(size + 1)
    rho, others = operator.rho(size), operator.alphabet - size
    mean = float(law @ kept)
    variance = float(law @ kept**2) - mean**2 + others * rho * (1.0 - rho)
    slack = 1e-6 * max(items, 1)
    return abs(items - rows * (mean + others * rho)) > FAR * math.sqrt(max(variance, 0.0) * rows) + slack
