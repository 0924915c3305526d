"""Supports estimated from randomized transactions, with their standard error and interval.

Partial supports: which share of the transactions holds just l of the items of an itemset.
Sizes are kept apart: overlaps of randomized transactions whose original had m items are undone by the matrix of m, and
the results are added. Covariances are conditional on the fixed original, where only the randomization is random: then
the overlaps are a sum of multinomials, and Cov = (L diag(P n) L^T - diag(n)) / N^2 for n originals by overlap, summed
over m. Source: Evfimievski et al. (KDD 2002), section 4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.transactions.laws import Floats
from ppdm_flow.mining.transactions.operators import TransactionOperator, noise, occurring, recovery, weights

LEVEL = 0.95

Counts = Mapping[int, npt.ArrayLike]
"""m -> how many randomized transactions with an original of m items hold l' of an itemset's, shape (..., k + 1)."""


def checked(counts: Counts) -> dict[int, Floats]:
    """Return counts as floats, all of the same shape. Raises ValueError for negative, missing or ragged ones."""
    arrays = {int(m): np.asarray(given, dtype=np.float64) for m, given in counts.items()}
    shapes = {given.shape for given in arrays.values()}
    if len(shapes) != 1 or not min(len(shape) for shape in shapes) or min(next(iter(shapes))) < 1:
        raise ValueError("counts need one array for each transaction size, all of the same shape")
    if not all(np.all(np.isfinite(given)) and np.all(given >= 0.0) for given in arrays.values()):
        raise ValueError("counts are not numbers from 0")
    if any(np.ptp(given.sum(axis=-1)) > 1e-6 for given in arrays.values()):
        raise ValueError("counts of one transaction size do not have the same sum for every itemset")
    if not transactions(arrays):
        raise ValueError("there are no transactions to estimate from")
    return arrays


def transactions(counts: Mapping[int, Floats]) -> float:
    """Return N, the number of transactions."""
    return float(sum(given.sum(axis=-1).flat[0] for given in counts.values()))


def partial_supports(operator: TransactionOperator, counts: Counts) -> Floats:
    """Return unbiased estimates of s_0..s_k as shares of all transactions, shape (..., k + 1).

    They sum to 1 where every m is at least k, but single ones may be negative. Raises PluginError PPF869 where they
    cannot be recovered, DataError PPF777 for a size that the operator does not know.
    """
    given = checked(counts)
    length = length_of(given)
    summed = sum(here @ recovery(operator, m, length).T for m, here in given.items())
    return np.asarray(summed / transactions(given))


def covariances(operator: TransactionOperator, counts: Counts) -> Floats:
    """Return an unbiased estimate of the covariance of ``partial_supports``, shape (..., k + 1, k + 1).

    The randomized overlaps replace their own expectation, and the estimates replace the originals.
    """
    given = checked(counts)
    length = length_of(given)
    summed = np.zeros((*next(iter(given.values())).shape, length + 1))
    for m, here in given.items():
        undo = recovery(operator, m, length)
        summed += _conditional(undo, here, here @ undo.T)
    return np.asarray(summed / transactions(given) ** 2)


def feasible(supports: Floats) -> Floats:
    """Return the nearest partial supports that are shares: not negative, with the same sum of 1; shape (..., k + 1)."""
    ordered = -np.sort(-supports, axis=-1)
    excess = (np.cumsum(ordered, axis=-1) - 1.0) / np.arange(1, supports.shape[-1] + 1)
    last = np.sum(ordered > excess, axis=-1, keepdims=True) - 1
    return np.maximum(supports - np.take_along_axis(excess, last, axis=-1), 0.0)


def _conditional(undo: Floats, randomized: Floats, originals: Floats) -> Floats:
    """Return L diag(y) L^T - diag(n) for every itemset."""
    spread = (undo * randomized[..., None, :]) @ undo.T
    eye = np.eye(undo.shape[0])
    return np.asarray(spread - eye * originals[..., None, :])


def length_of(counts: Mapping[int, Floats]) -> int:
    """Return k of counts of shape (..., k + 1). Raises ValueError below 1."""
    length: int = next(iter(counts.values())).shape[-1] - 1
    if length < 1:
        raise ValueError("an itemset needs one item at least")
    return length


@dataclass(frozen=True, slots=True, eq=False)
class QuantityEstimates:
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


def supports(operator: TransactionOperator, counts: Counts, level: float = LEVEL) -> QuantityEstimates:
    """Estimate the supports of itemsets, as shares of all transactions, from overlaps by original size.

    Parameters
    ----------
    counts : m -> randomized transactions that hold l' = 0..k of the k items, shape (..., k + 1)
    level : of the intervals, which are cut to [0, share of the transactions with at least k items]

    Each size is undone by its own weights w, and Var = (1 / N^2) sum over t of Var(w | t). Its unbiased estimate, the
    sum of w^2 - w over the data, is moved to the least or largest value it can have where it lies outside (it may be
    negative in small data). Raises PluginError PPF869, DataError PPF777.
    """
    given = checked(counts)
    length = length_of(given)
    summed = spread = np.zeros(next(iter(given.values())).shape[:-1])
    least = most = large = 0.0
    for m, here in given.items():
        size_weights, fits = weights(operator, m, length), occurring(operator, m, length)
        if m < length:
            continue
        possible, number = noise(operator, m, length, size_weights)[fits], transactions({m: here})
        summed, spread = summed + here @ size_weights, spread + here @ (size_weights * size_weights - size_weights)
        least, most = least + number * possible.min(), most + number * possible.max()
        large += number
    total = transactions(given)
    sigma = np.sqrt(np.clip(spread, least, most)) / total
    return interval(np.asarray(summed / total), sigma, level, large / total)


def interval(value: Floats, sigma: Floats, level: float, top: float) -> QuantityEstimates:
    """Return value ± z sigma, cut to [0, top]."""
    half = quantile(level) * sigma
    return QuantityEstimates(value, sigma, np.clip(value - half, 0.0, top), np.clip(value + half, 0.0, top))


def expected_sigma(
    operator: TransactionOperator, partial: Mapping[int, Floats], numbers: Mapping[int, float]
) -> Floats:
    """Return the standard error to expect for known partial supports, before anything is randomized; shape (...).

    Parameters
    ----------
    partial : m -> s_0..s_k among the transactions of m items, shape (..., k + 1)
    numbers : m -> N_m
    """
    length = next(iter(partial.values())).shape[-1] - 1
    summed = sum(numbers[m] * (np.asarray(here) @ noise(operator, m, length)) for m, here in partial.items())
    return np.asarray(np.sqrt(summed) / sum(numbers.values()))
