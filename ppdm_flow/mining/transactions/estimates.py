"""Supports estimated from randomized transactions, with their standard error and interval."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from ppdm_flow.mining.transactions.laws import Floats
from ppdm_flow.mining.transactions.matrices import noise, occurring, weights
from ppdm_flow.mining.transactions.operators import Operator
from ppdm_flow.mining.transactions.partial import Counts, checked, length_of, transactions

LEVEL = 0.95


@dataclass(frozen=True, slots=True, eq=False)
class Estimates:
    """Estimates of one or many quantities, arrays of one shape (...).

    Attributes
    ----------
    value : unbiased, so it may be below 0
    sigma : standard error that the randomization causes, the original being fixed
    low, high : ends of the interval value ± z sigma, cut to what the quantity can be
    """

    value: Floats
    sigma: Floats
    low: Floats
    high: Floats


def quantile(level: float) -> float:
    """Return z with Pr[|Z| <= z] = ``level``, 0 < level < 1. Raises ValueError for another level."""
    if not 0.0 < level < 1.0:
        raise ValueError(f"the level of an interval must be between 0 and 1, got {level!r}")
    return NormalDist().inv_cdf(0.5 + 0.5 * level)


def supports(operator: Operator, counts: Counts, level: float = LEVEL) -> Estimates:
    """Estimate the supports of itemsets, as shares of all transactions, from overlaps by original size.

    Parameters
    ----------
    counts : m -> randomized transactions that hold l' = 0..k of the k items, shape (..., k + 1)
    level : of the intervals, which are cut to [0, share of the transactions with at least k items]

    Each size is undone by its own weights w, and Var = (1 / N^2) sum over t of Var(w | t). Its unbiased estimate, the
    sum of w^2 - w over the data, is moved to the least or largest value it can have where it lies outside (it may be
    negative in small data). Raises PluginError PPF772, DataError PPF774.
    """
    given = checked(counts)
    length = length_of(given)
    summed = spread = np.zeros(next(iter(given.values())).shape[:-1])
    least = most = large = 0.0
    for m, here in given.items():
        held, fits = weights(operator, m, length), occurring(operator, m, length)
        if m < length:
            continue
        possible, number = noise(operator, m, length, held)[fits], transactions({m: here})
        summed, spread = summed + here @ held, spread + here @ (held * held - held)
        least, most = least + number * possible.min(), most + number * possible.max()
        large += number
    total = transactions(given)
    sigma = np.sqrt(np.clip(spread, least, most)) / total
    return interval(np.asarray(summed / total), sigma, level, large / total)


def interval(value: Floats, sigma: Floats, level: float, top: float) -> Estimates:
    """Return value ± z sigma, cut to [0, top]."""
    half = quantile(level) * sigma
    return Estimates(value, sigma, np.clip(value - half, 0.0, top), np.clip(value + half, 0.0, top))


def expected_sigma(operator: Operator, partial: Mapping[int, Floats], numbers: Mapping[int, float]) -> Floats:
    """Return the standard error to expect for known partial supports, before anything is randomized; shape (...).

    Parameters
    ----------
    partial : m -> s_0..s_k among the transactions of m items, shape (..., k + 1)
    numbers : m -> N_m
    """
    length = next(iter(partial.values())).shape[-1] - 1
    summed = sum(numbers[m] * (np.asarray(here) @ noise(operator, m, length)) for m, here in partial.items())
    return np.asarray(np.sqrt(summed) / sum(numbers.values()))
