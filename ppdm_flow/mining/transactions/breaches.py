"""What a randomized transaction reveals of its original: breach levels, and amplification as their bound.

Pr[z in t | event] = sum_l s+_l R_l / sum_l s_l R_l with s_l = Pr[|t ∩ A| = l], s+_l = Pr[|t ∩ A| = l, z in t] and
R_l = Pr[event | |t ∩ A| = l]: given t, what happens to A depends on |t ∩ A| alone, so z may be in A or not. An
adversary who knows the size m uses the shares among transactions of m items; one who knows that B ⊆ t those among
transactions that hold B. Source: Evfimievski et al. (KDD 2002), section 4.2; absence and known items go beyond it.

How far an operator can move any prior belief: amplification, and its equivalent epsilon.
Source: Evfimievski, Gehrke, Srikant, "Limiting privacy breaches in privacy preserving data mining" (PODS 2003).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from enum import StrEnum
from math import comb

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.transactions.laws import Floats, log_choose
from ppdm_flow.mining.transactions.operators import NONE, TransactionOperator, joint, members, transition


class Event(StrEnum):
    """What is seen of an itemset A in t': all of it, not all of it, or none of it."""

    ALL = "all"
    NOT_ALL = "not_all"
    NONE = "none"


def likelihoods(operator: TransactionOperator, size: int, length: int, event: Event = Event.ALL) -> Floats:
    """Return R_l = Pr[event | |t ∩ A| = l] for |A| = ``length``, shape (k + 1,); of no use where l cannot occur."""
    matrix = transition(operator, size, length)
    if event is Event.ALL:
        return np.array(matrix[length])
    return np.array(matrix[0]) if event is Event.NONE else np.asarray(matrix[:length].sum(axis=0))


def likelihoods_knowing(
    operator: TransactionOperator, size: int, length: int, known: int, seen: int, event: Event = Event.ALL
) -> Floats:
    """Return R_l = Pr[event, and ``seen`` items of B in t' | |t ∩ A| = l, B ⊆ t], shape (k + 1,).

    B are ``known`` items outside of A that the adversary knows to be in t, so seeing how many of them came through
    tells how much was kept. Raises ValueError unless 0 <= seen <= known <= m.
    """
    if not 0 <= seen <= known <= size:
        raise ValueError("no more items can be seen than are known, and no more known than there are")
    if not known:
        return likelihoods(operator, size, length, event)
    chance, overlap = joint(operator, size, length + known), np.arange(length + 1)
    every = comb(known, seen) * chance[overlap + known, overlap + seen, length - overlap]
    if event is Event.ALL:
        return np.asarray(every)
    if event is Event.NONE:
        return np.asarray(comb(known, seen) * chance[overlap + known, seen, 0])
    possible = overlap + known <= size
    return np.asarray(np.where(possible, transition(operator, size, known)[seen, known] - every, 0.0))


def level(likelihood: Floats, supports: npt.ArrayLike, with_item: npt.ArrayLike) -> Floats:
    """Return Pr[z in t | event], shape (...); 0 where the event cannot happen.

    ``supports`` s_l and ``with_item`` s+_l of shape (..., k + 1), as shares or as counts.
    """
    hit, seen = np.asarray(with_item) @ likelihood, np.asarray(supports) @ likelihood
    return np.asarray(np.divide(hit, seen, out=np.zeros_like(seen), where=seen > 0.0))


def certainty(likelihood: Floats, supports: npt.ArrayLike) -> Floats:
    """Return Pr[A in t | event], that of the whole itemset: s_k R_k / sum_l s_l R_l, shape (...).

    ``supports`` s_l of shape (..., k + 1). The talk of the KDD 2002 paper calls it certainty, of {x, y, z} about 98 %.
    """
    return level(likelihood, supports, only_whole(supports))


def only_whole(supports: npt.ArrayLike) -> Floats:
    """Return supports (..., k + 1) with those of the whole itemset alone, the others 0."""
    given = np.asarray(supports, dtype=np.float64)
    return np.asarray(given * (np.arange(given.shape[-1]) == given.shape[-1] - 1))


def level_over_sizes(
    likelihood: Mapping[int, Floats], supports: Mapping[int, Floats], with_item: Mapping[int, Floats]
) -> Floats:
    """Return Pr[z in t | event] for an adversary who does not know m, shape (...).

    ``supports`` and ``with_item`` by m are counts of transactions, or shares of all of them, shape (..., k + 1).
    """
    hit = np.sum([np.asarray(with_item[m]) @ here for m, here in likelihood.items()], axis=0)
    seen = np.sum([np.asarray(supports[m]) @ here for m, here in likelihood.items()], axis=0)
    return np.asarray(np.divide(hit, seen, out=np.zeros_like(seen), where=seen > 0.0))


def exchangeable(supports: npt.ArrayLike) -> Floats:
    """Return s+_l = (l / k) s_l, for items of A that are alike; shape (..., k + 1)."""
    given = np.asarray(supports, dtype=np.float64)
    return np.asarray(given * np.linspace(0.0, 1.0, given.shape[-1]))


def by_item(patterns: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Return s_l and s+_l for each z in A from shares or counts of all patterns t ∩ A.

    ``patterns`` of shape (..., 2^k), bit i of the index is item i. Shapes (..., k + 1) and (..., k, k + 1).
    """
    given = np.asarray(patterns, dtype=np.float64)
    index = np.arange(given.shape[-1])
    length = len(index).bit_length() - 1
    overlap = members(index)[:, None] == np.arange(length + 1)
    holds = (index >> np.arange(length)[:, None] & 1).astype(np.float64)
    return given @ overlap, (given[..., None, :] * holds) @ overlap


def epsilon(operator: TransactionOperator, size: int, differing: int | None = None) -> float:
    """Return ln gamma, gamma the largest p[t1 -> t'] / p[t2 -> t'] over transactions of m items; in nats, may be inf.

    p[t -> t'] depends on |t ∩ t'| and |t'| alone, and any two overlaps go together with some t' that differ by no more
    than the items outside of t. It holds given m: an operator whose parameters depend on m does not hide m.

    ``differing``: only for t1 and t2 that differ in so many items at most (1: one item replaced by another).
    """
    law = operator.law(size)
    reach = min(operator.alphabet - size, size if differing is None else differing)
    if reach < 1:
        return 0.0
    if operator.family == NONE:
        return math.inf
    return _widest(_log_densities(operator, size, law), reach)


def posterior_bound(prior: float, nats: float) -> float:
    """Return the largest posterior of anything whose prior is ``prior``, under gamma = exp(``nats``)."""
    if prior <= 0.0:
        return 0.0
    return 1.0 / (1.0 + (1.0 - prior) / prior * math.exp(-nats))


def _log_densities(operator: TransactionOperator, size: int, law: Floats) -> Floats:
    """Return ln p[t -> t'] for |t ∩ t'| = j, up to a term that depends on |t'| alone, shape (m + 1,)."""
    overlap = np.arange(size + 1)
    logs = np.log(law, out=np.full(size + 1, -np.inf), where=law > 0.0)
    densities = logs - log_choose(size, overlap)
    if operator.refills:
        return np.asarray(densities - log_choose(operator.alphabet - size, size - overlap + operator.inserted))
    rho = operator.rho(size)
    return np.asarray(densities - overlap * (math.log(rho) - math.log1p(-rho)))


def _widest(logs: Floats, reach: int) -> float:
    """Return the largest difference of two entries that are ``reach`` apart at most; -inf pairs do not count."""
    widest = 0.0
    for apart in range(1, min(reach, len(logs) - 1) + 1):
        first, second = logs[apart:], logs[:-apart]
        either = np.isfinite(first) | np.isfinite(second)
        if either.any():
            widest = max(widest, float(np.abs(first[either] - second[either]).max()))
    return widest
