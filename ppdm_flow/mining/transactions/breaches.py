"""What a randomized transaction tells of one item of its original: breach levels.

Pr[z in t | event] = sum_l s+_l R_l / sum_l s_l R_l with s_l = Pr[|t ∩ A| = l], s+_l = Pr[|t ∩ A| = l, z in t] and
R_l = Pr[event | |t ∩ A| = l]: given t, what happens to A depends on |t ∩ A| alone, so z may be in A or not. An
adversary who knows the size m uses the shares among transactions of m items; one who knows that B ⊆ t those among
transactions that hold B. Source: Evfimievski et al. (KDD 2002), section 4.2; absence and known items go beyond it.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from math import comb

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.transactions.laws import Floats
from ppdm_flow.mining.transactions.matrices import joint, members, transition
from ppdm_flow.mining.transactions.operators import Operator


class Event(StrEnum):
    """What is seen of an itemset A in t': all of it, not all of it, or none of it."""

    ALL = "all"
    NOT_ALL = "not_all"
    NONE = "none"


def likelihoods(operator: Operator, size: int, length: int, event: Event = Event.ALL) -> Floats:
    """Return R_l = Pr[event | |t ∩ A| = l] for |A| = ``length``, shape (k + 1,); of no use where l cannot occur."""
    matrix = transition(operator, size, length)
    if event is Event.ALL:
        return np.array(matrix[length])
    return np.array(matrix[0]) if event is Event.NONE else np.asarray(matrix[:length].sum(axis=0))


def likelihoods_knowing(
    operator: Operator, size: int, length: int, known: int, seen: int, event: Event = Event.ALL
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

    ``patterns`` of shape (..., 2^k), bit i of the index stands for item i. Shapes (..., k + 1) and (..., k, k + 1).
    """
    given = np.asarray(patterns, dtype=np.float64)
    index = np.arange(given.shape[-1])
    length = len(index).bit_length() - 1
    overlap = members(index)[:, None] == np.arange(length + 1)
    holds = (index >> np.arange(length)[:, None] & 1).astype(np.float64)
    return given @ overlap, (given[..., None, :] * holds) @ overlap
