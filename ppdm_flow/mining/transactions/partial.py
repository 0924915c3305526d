"""Partial supports: which share of the transactions holds just l of the items of an itemset.

Sizes are kept apart: overlaps of randomized transactions whose original had m items are undone by the matrix of m, and
the results are added. Covariances are conditional on the fixed original, where only the randomization is random: then
the overlaps are a sum of multinomials, and Cov = (L diag(P n) L^T - diag(n)) / N^2 for n originals by overlap, summed
over m. Source: Evfimievski et al. (KDD 2002), section 4.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.transactions.laws import Floats
from ppdm_flow.mining.transactions.matrices import recovery, transition
from ppdm_flow.mining.transactions.operators import Operator

Counts = Mapping[int, npt.ArrayLike]
"""m -> how many randomized transactions with an original of m items hold l' of an itemset's, shape (..., k + 1)."""


def checked(counts: Counts) -> dict[int, Floats]:
    """Return counts as floats, all of the same shape. Raises ValueError for negative, missing or ragged ones."""
    found = {int(m): np.asarray(given, dtype=np.float64) for m, given in counts.items()}
    shapes = {given.shape for given in found.values()}
    if len(shapes) != 1 or not min(len(shape) for shape in shapes) or min(next(iter(shapes))) < 1:
        raise ValueError("counts need one array for each transaction size, all of the same shape")
    if not all(np.all(np.isfinite(given)) and np.all(given >= 0.0) for given in found.values()):
        raise ValueError("counts are not numbers from 0")
    if any(np.ptp(given.sum(axis=-1)) > 1e-6 for given in found.values()):
        raise ValueError("counts of one transaction size do not have the same sum for every itemset")
    if not transactions(found):
        raise ValueError("there are no transactions to estimate from")
    return found


def transactions(counts: Mapping[int, Floats]) -> float:
    """Return N, the number of transactions."""
    return float(sum(given.sum(axis=-1).flat[0] for given in counts.values()))


def partial_supports(operator: Operator, counts: Counts) -> Floats:
    """Return unbiased estimates of s_0..s_k as shares of all transactions, shape (..., k + 1).

    They sum to 1 where every m is at least k, but single ones may be negative. Raises PluginError PPF772 where they
    cannot be recovered, DataError PPF774 for a size that the operator does not know.
    """
    given = checked(counts)
    length = length_of(given)
    summed = sum(here @ recovery(operator, m, length).T for m, here in given.items())
    return np.asarray(summed / transactions(given))


def covariances(operator: Operator, counts: Counts) -> Floats:
    """Return an unbiased estimate of the covariance of ``partial_supports``, shape (..., k + 1, k + 1).

    The randomized overlaps stand for their own expectation, the estimates for the originals.
    """
    given = checked(counts)
    length = length_of(given)
    summed = np.zeros((*next(iter(given.values())).shape, length + 1))
    for m, here in given.items():
        undo = recovery(operator, m, length)
        summed += _conditional(undo, here, here @ undo.T)
    return np.asarray(summed / transactions(given) ** 2)


def exact_covariances(operator: Operator, originals: Counts) -> Floats:
    """Return the covariance itself for ``originals``: m -> transactions with |t ∩ A| = l, shape (..., k + 1)."""
    given = checked(originals)
    length = length_of(given)
    summed = np.zeros((*next(iter(given.values())).shape, length + 1))
    for m, here in given.items():
        undo = recovery(operator, m, length)
        summed += _conditional(undo, here @ transition(operator, m, length).T, here)
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
