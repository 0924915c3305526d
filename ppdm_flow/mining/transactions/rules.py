"""Association rules of what was mined: confidence and lift, with intervals by the delta method."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.transactions.apriori.apriori import MinedItemsets
from ppdm_flow.mining.transactions.apriori.levels import places
from ppdm_flow.mining.transactions.estimates import LEVEL, quantile
from ppdm_flow.mining.transactions.laws import Floats
from ppdm_flow.mining.transactions.patterns import LONGEST, Subsets, subsets

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
