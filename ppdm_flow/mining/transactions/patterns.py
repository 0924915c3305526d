"""Supports of all subsets of an itemset together, with the covariances that rules need.

Overlap counts of A are blind to which of its items a transaction holds. Counts of all 2^k patterns t' ∩ A are not, and
give every X ⊆ A: the weights of X, applied to |t' ∩ X|. Given t, Cov(w_X, w_Y) = E[w_X w_Y | t] - [X ∪ Y ⊆ t], so the
sum of w_X w_Y over the data less the estimated count of X ∪ Y estimates the covariance without bias.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ppdm_flow.mining.transactions.estimates import Counts, checked, transactions
from ppdm_flow.mining.transactions.laws import Floats
from ppdm_flow.mining.transactions.matrices import members, occurring, pattern_transition, weights
from ppdm_flow.mining.transactions.operators import TransactionOperator

LONGEST = 10
"""Items of the largest itemset whose 2^k patterns are taken apart."""


@dataclass(frozen=True, slots=True, eq=False)
class Subsets:
    """Estimates for all subsets X of an itemset of k items, which are the bits of an index from 0 to 2^k - 1.

    Attributes
    ----------
    value : unbiased estimates of supports, shape (2^k,); 1 for the empty set
    covariance : of these, unbiased, shape (2^k, 2^k)
    readings : m -> F[X, u], the weight of pattern u for X, shape (2^k, 2^k)
    counts : m -> randomized transactions by pattern, shape (2^k,)
    """

    operator: TransactionOperator
    value: Floats
    covariance: Floats
    readings: Mapping[int, Floats]
    counts: Mapping[int, Floats]

    @property
    def total(self) -> float:
        """The number N of transactions."""
        return transactions(self.counts)

    @property
    def length(self) -> int:
        """The number k of items."""
        return len(self.value).bit_length() - 1

    def variance(self, slope: Floats) -> float:
        """Return Var(sum of slope[X] value[X]), ``slope`` of shape (2^k,).

        The unbiased estimate, moved to the least or largest value that it can have where it lies outside.
        """
        least = most = 0.0
        for m, read in self.readings.items():
            moved = _moves(self.operator, m, self.length)
            combined = slope @ read
            mean = combined @ moved
            spread = np.maximum((combined * combined) @ moved - mean * mean, 0.0)
            number = float(self.counts[m].sum())
            least, most = least + number * float(spread.min()), most + number * float(spread.max())
        variance = float(slope @ self.covariance @ slope)
        return float(np.clip(variance, least / self.total**2, most / self.total**2))


def subsets(operator: TransactionOperator, counts: Counts) -> Subsets:
    """Estimate the supports of all subsets of one itemset.

    ``counts``: m -> randomized transactions by pattern t' ∩ A, shape (2^k,); bit i of the index stands for item i.
    Raises ValueError for more than 10 items, PluginError PPF869, DataError PPF777.
    """
    given = checked(counts)
    width = next(iter(given.values())).shape
    length = width[0].bit_length() - 1
    if len(width) != 1 or width[0] != 1 << length or not 1 <= length <= LONGEST:
        raise ValueError(f"counts by pattern have the shape (2^k,), for 1 to {LONGEST} items")
    readings = {m: reading(operator, m, length) for m in given}
    total = transactions(given)
    value = np.sum([readings[m] @ here for m, here in given.items()], axis=0) / total
    products = np.sum([(readings[m] * here) @ readings[m].T for m, here in given.items()], axis=0)
    index = np.arange(1 << length)
    covariance = (products / total - value[index[:, None] | index]) / total
    return Subsets(operator, value, covariance, readings, given)


@lru_cache(maxsize=32)
def reading(operator: TransactionOperator, size: int, length: int) -> Floats:
    """Return F[X, u], the weight that pattern u has in the estimate of how many t hold X; shape (2^k, 2^k)."""
    index = np.arange(1 << length)
    chosen, shared = members(index), members(index[:, None] & index)
    readings = np.ones((len(index), len(index)))
    for inner in range(1, length + 1):
        rows = chosen == inner
        readings[rows] = weights(operator, size, inner)[shared[rows]]
    readings.setflags(write=False)
    return readings


@lru_cache(maxsize=32)
def _moves(operator: TransactionOperator, size: int, length: int) -> Floats:
    """Return the columns of the transition matrix of patterns that can occur."""
    fits = occurring(operator, size, length)[members(np.arange(1 << length))]
    return np.ascontiguousarray(pattern_transition(operator, size, length)[:, fits])
