"""The lowest discoverable support: the smallest support whose estimate is 4 standard errors above zero.

Source: Evfimievski et al. (KDD 2002), section 6. The error depends on how often parts of the itemset occur. Assumed
here, since more of them mean more noise: parts are as frequent as their maximal supports allow, larger parts first; or,
where no maxima are given, an itemset occurs whole or not at all, which gives the least that any itemset has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import comb

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.transactions.hardest import Maxima, check_maxima, maxima_of
from ppdm_flow.mining.transactions.laws import Floats
from ppdm_flow.mining.transactions.operators import TransactionOperator, noise

SIGMAS = 4.0

HALVINGS = 60


def crowded(support: npt.ArrayLike, length: int, maxima: Sequence[float] | None = None) -> Floats:
    """Return s_0..s_k with s_k = ``support`` (...) and parts as frequent as S_1.. allow; shape (..., k + 1).

    Where all maxima can be met at once and ``support`` is S_k, these are the privacy-challenging partial supports. A
    part is at least as frequent as the whole, even above its own maximum.
    """
    top = np.asarray(support, dtype=np.float64)
    shares = np.zeros((*top.shape, length + 1))
    shares[..., length] = top
    limits = None if maxima is None else check_maxima(maxima)
    for part in range(length - 1, 0, -1) if limits is not None else ():
        shares[..., part] = np.maximum(_room(shares, part, limits or (), top), 0.0)
    shares[..., 0] = 1.0 - shares[..., 1:].sum(axis=-1)
    return shares


def _room(shares: Floats, part: int, limits: Sequence[float], top: Floats) -> Floats:
    """Return the largest s_part such that no subset of up to ``part`` items is above its limit."""
    length = shares.shape[-1] - 1
    room = 1.0 - shares.sum(axis=-1)
    for subset in range(1, part + 1):
        share = np.array([comb(hits, subset) / comb(length, subset) for hits in range(length + 1)])
        limit = np.maximum(limits[min(subset, len(limits)) - 1], top)
        room = np.minimum(room, (limit - shares @ share) / share[part])
    return np.asarray(room)


def lowest_support(spread: Floats, number: float, maxima: Sequence[float] | None = None) -> Floats:
    """Return the s with s = 4 sqrt(sum_l s_l D_l / N), shape (...); inf where even 1 is not discoverable.

    Parameters
    ----------
    spread : D_l, the variance that one transaction with |t ∩ A| = l adds, shape (..., k + 1); see ``noise``
    number : N, transactions that it is estimated from
    maxima : largest supports S_1.. of parts, None for an itemset that occurs whole or not at all
    """
    return _search([(1.0, np.asarray(spread, dtype=np.float64), maxima)], number)


def lowest_supports(
    operator: TransactionOperator, numbers: Mapping[int, float], lengths: Sequence[int], maxima: Maxima | None = None
) -> dict[int, float]:
    """Return k -> lowest discoverable support, as a share of all transactions, over a mixture of sizes; may be inf.

    Parameters
    ----------
    numbers : m -> N_m; only transactions of at least k items count for an itemset of k, in all of which it is assumed
        to be as frequent
    maxima : largest supports S_1.. within the transactions of one size, for all sizes or by size

    Raises PluginError PPF869 where supports of k items cannot be recovered, DataError PPF777.
    """
    return {k: _lowest(operator, numbers, k, maxima) for k in lengths}


def _lowest(operator: TransactionOperator, numbers: Mapping[int, float], length: int, maxima: Maxima | None) -> float:
    large = {m: number for m, number in numbers.items() if m >= length and number > 0}
    if not large:
        return float("inf")
    large_total, total = sum(large.values()), sum(numbers.values())
    groups = [
        (number / large_total, noise(operator, m, length), None if maxima is None else maxima_of(maxima, m))
        for m, number in large.items()
    ]
    return float(_search(groups, large_total) * large_total / total)


Group = tuple[float, Floats, Sequence[float] | None]
"""The share of a transaction size, its D_l of shape (..., k + 1), and the maximal supports of parts in it."""


def _search(groups: Sequence[Group], number: float) -> Floats:
    """Return the lowest support that is told from 0, by halving its logarithm; shape (...)."""
    shape = groups[0][1].shape[:-1]
    low, high = np.full(shape, 1e-12), np.ones(shape)
    visible = _visible(high, groups, number)
    for _ in range(HALVINGS):
        middle = np.sqrt(low * high)
        reached = _visible(middle, groups, number)
        low, high = np.where(reached, low, middle), np.where(reached, middle, high)
    return np.asarray(np.where(visible, high, np.inf))


def _visible(support: Floats, groups: Sequence[Group], number: float) -> npt.NDArray[np.bool_]:
    variance = np.zeros(support.shape)
    for share, spread, maxima in groups:
        partial = crowded(support, spread.shape[-1] - 1, maxima)
        variance += share * np.einsum("...l,...l->...", partial, spread)
    return np.asarray(support >= SIGMAS * np.sqrt(np.maximum(variance, 0.0) / number))
