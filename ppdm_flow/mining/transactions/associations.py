"""Confidence and lift of association rules, with intervals by the delta method."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ppdm_flow.mining.transactions.estimates import LEVEL, quantile
from ppdm_flow.mining.transactions.laws import Floats
from ppdm_flow.mining.transactions.patterns import Subsets


@dataclass(frozen=True, slots=True)
class Ratio:
    """A ratio of supports. ``value`` and ``sigma`` are None where a support below it is not told from 0.

    Its interval then is all that the ratio can be; ``high`` is None where that has no end.
    """

    value: float | None
    sigma: float | None
    low: float
    high: float | None


def confidence(found: Subsets, antecedent: int, consequent: int, level: float = LEVEL) -> Ratio:
    """Return support(A ∪ B) / support(A) for a rule A => B, its interval cut to [0, 1].

    ``antecedent`` and ``consequent`` are bits of the items of A and B among those of ``found``, both not empty and
    without a common item. With c the ratio, Var = Var(s_AB - c s_A) / s_A^2.
    """
    _check(found, antecedent, consequent)
    if not _told(found, antecedent, level):
        return Ratio(None, None, 0.0, 1.0)
    both, below = float(found.value[antecedent | consequent]), float(found.value[antecedent])
    slope = np.zeros(len(found.value))
    slope[antecedent | consequent], slope[antecedent] = 1.0 / below, -both / below**2
    return _ratio(found, both / below, slope, level, 1.0)


def lift(found: Subsets, antecedent: int, consequent: int, level: float = LEVEL) -> Ratio:
    """Return support(A ∪ B) / (support(A) support(B)) of a rule A => B, its interval cut to [0, inf)."""
    _check(found, antecedent, consequent)
    if not (_told(found, antecedent, level) and _told(found, consequent, level)):
        return Ratio(None, None, 0.0, None)
    both = float(found.value[antecedent | consequent])
    first, second = float(found.value[antecedent]), float(found.value[consequent])
    ratio = both / (first * second)
    slope = np.zeros(len(found.value))
    slope[antecedent | consequent] = 1.0 / (first * second)
    slope[antecedent], slope[consequent] = -ratio / first, -ratio / second
    return _ratio(found, ratio, slope, level, math.inf)


def _ratio(found: Subsets, value: float, slope: Floats, level: float, top: float) -> Ratio:
    sigma = math.sqrt(found.variance(slope))
    half = quantile(level) * sigma
    high = min(max(value + half, 0.0), top)
    return Ratio(value, sigma, min(max(value - half, 0.0), top), high)


def _told(found: Subsets, chosen: int, level: float) -> bool:
    """Whether a support is above 0 by more than its interval is wide: else a ratio over it may be anything."""
    slope = np.zeros(len(found.value))
    slope[chosen] = 1.0
    return float(found.value[chosen]) > quantile(level) * math.sqrt(found.variance(slope))


def _check(found: Subsets, antecedent: int, consequent: int) -> None:
    top = len(found.value)
    if not (0 < antecedent < top and 0 < consequent < top) or antecedent & consequent:
        raise ValueError("a rule needs two sets of items of the itemset, not empty and without a common item")
