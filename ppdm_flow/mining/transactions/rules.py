"""Association rules of what was mined: confidence and lift, with intervals by the delta method."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.transactions.apriori import MinedItemsets, places
from ppdm_flow.mining.transactions.estimates import LEVEL, Counts, checked, quantile, transactions
from ppdm_flow.mining.transactions.laws import Floats
from ppdm_flow.mining.transactions.operators import TransactionOperator, members, occurring, pattern_transition, weights

_NEAR = 1e-6
"""Estimates of one support by two formulas differ by rounding only: much less than this."""


@dataclass(frozen=True, slots=True)
class SupportRatio:
    """A ratio of supports. ``value`` and ``sigma`` are None where a support below it is not told from 0.

    Its interval then is all that the ratio can be; ``high`` is None where that has no end.
    """

    value: float | None
    sigma: float | None
    low: float
    high: float | None


def confidence(supports: Subsets, antecedent: int, consequent: int, level: float = LEVEL) -> SupportRatio:
    """Return support(A ∪ B) / support(A) for a rule A => B, its interval cut to [0, 1].

    ``antecedent`` and ``consequent`` are bits of the items of A and B among those of ``supports``, both not empty and
    without a common item. With c the ratio, Var = Var(s_AB - c s_A) / s_A^2.
    """
    _check(supports, antecedent, consequent)
    if not _significant(supports, antecedent, level):
        return SupportRatio(None, None, 0.0, 1.0)
    both, below = float(supports.value[antecedent | consequent]), float(supports.value[antecedent])
    slope = np.zeros(len(supports.value))
    slope[antecedent | consequent], slope[antecedent] = 1.0 / below, -both / below**2
    return _ratio(supports, both / below, slope, level, 1.0)


def lift(supports: Subsets, antecedent: int, consequent: int, level: float = LEVEL) -> SupportRatio:
    """Return support(A ∪ B) / (support(A) support(B)) of a rule A => B, its interval cut to [0, inf)."""
    _check(supports, antecedent, consequent)
    if not (_significant(supports, antecedent, level) and _significant(supports, consequent, level)):
        return SupportRatio(None, None, 0.0, None)
    both = float(supports.value[antecedent | consequent])
    first, second = float(supports.value[antecedent]), float(supports.value[consequent])
    ratio = both / (first * second)
    slope = np.zeros(len(supports.value))
    slope[antecedent | consequent] = 1.0 / (first * second)
    slope[antecedent], slope[consequent] = -ratio / first, -ratio / second
    return _ratio(supports, ratio, slope, level, math.inf)


def _ratio(supports: Subsets, value: float, slope: Floats, level: float, top: float) -> SupportRatio:
    sigma = math.sqrt(supports.variance(slope))
    half = quantile(level) * sigma
    high = min(max(value + half, 0.0), top)
    return SupportRatio(value, sigma, min(max(value - half, 0.0), top), high)


def _significant(supports: Subsets, chosen: int, level: float) -> bool:
    """Whether a support is above 0 by more than its interval is wide: else a ratio over it may be anything."""
    slope = np.zeros(len(supports.value))
    slope[chosen] = 1.0
    return float(supports.value[chosen]) > quantile(level) * math.sqrt(supports.variance(slope))


def _check(supports: Subsets, antecedent: int, consequent: int) -> None:
    top = len(supports.value)
    if not (0 < antecedent < top and 0 < consequent < top) or antecedent & consequent:
        raise ValueError("a rule needs two sets of items of the itemset, not empty and without a common item")


@dataclass(frozen=True, slots=True)
class AssociationRule:
    """``antecedent`` => ``consequent``, item numbers ascending; ``support`` and its ``sigma`` are of both together."""

    antecedent: tuple[int, ...]
    consequent: tuple[int, ...]
    support: float
    sigma: float
    confidence: SupportRatio
    lift: SupportRatio


def rules(mined: MinedItemsets, min_confidence: float = 0.0, level: float = LEVEL) -> Iterator[AssociationRule]:
    """Yield all rules of the frequent itemsets of 2 to 10 items with an estimated confidence of at least this.

    A rule whose antecedent's support is not told from 0 has no confidence and is left out.
    """
    for size in range(2, min(len(mined.by_size), LONGEST) + 1):
        itemsets, counts = mined.patterns(size)
        likely = _likely(mined, size, min_confidence)
        for itemset, by_class, some in zip(itemsets.tolist(), counts, likely, strict=True):
            if some.any():
                here = {m: by_class[c] for c, m in enumerate(mined.operator.sizes) if mined.rows[c]}
                chosen = np.flatnonzero(some).tolist()
                yield from _of(itemset, chosen, subsets(mined.operator, here), min_confidence, level)


def _likely(mined: MinedItemsets, size: int, min_confidence: float) -> npt.NDArray[np.bool_]:
    """Return for each frequent itemset which of its parts imply the rest by the estimates alone, (n, 2^k)."""
    last = mined.by_size[size - 1]
    itemsets, value = last.itemsets[last.frequent], last.estimates.value[last.frequent]
    likely = np.zeros((len(itemsets), 1 << size), dtype=bool)
    for part in range(1, (1 << size) - 1):
        items = [place for place in range(size) if part >> place & 1]
        at = places(mined.levels, itemsets[:, items], mined.operator.alphabet)
        below = mined.by_size[len(items) - 1].estimates.value[at]
        likely[:, part] = (below > 0.0) & (value >= (min_confidence - _NEAR) * below)
    return likely


def _of(
    itemset: list[int], parts: list[int], supports: Subsets, min_confidence: float, level: float
) -> Iterator[AssociationRule]:
    everything = (1 << len(itemset)) - 1
    sigma = _sigma(supports, everything)
    for antecedent in parts:
        sure = confidence(supports, antecedent, everything ^ antecedent, level)
        if sure.value is None or sure.value < min_confidence:
            continue
        yield AssociationRule(
            _items(itemset, antecedent),
            _items(itemset, everything ^ antecedent),
            float(supports.value[everything]),
            sigma,
            sure,
            lift(supports, antecedent, everything ^ antecedent, level),
        )


def _sigma(supports: Subsets, chosen: int) -> float:
    slope = np.zeros(len(supports.value))
    slope[chosen] = 1.0
    return float(np.sqrt(supports.variance(slope)))


def _items(itemset: list[int], pattern: int) -> tuple[int, ...]:
    return tuple(item for place, item in enumerate(itemset) if pattern >> place & 1)


# Supports of all subsets of an itemset together, with the covariances that rules need.
#
# Overlap counts of A are blind to which of its items a transaction holds. Counts of all 2^k patterns t' ∩ A are not,
# and give every X ⊆ A: the weights of X, applied to |t' ∩ X|. Given t, Cov(w_X, w_Y) = E[w_X w_Y | t] - [X ∪ Y ⊆ t], so
# the sum of w_X w_Y over the data less the estimated count of X ∪ Y estimates the covariance without bias.


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

    ``counts``: m -> randomized transactions by pattern t' ∩ A, shape (2^k,); bit i of the index is item i.
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
