"""The most that a randomized transaction reveals of the itemsets that the original really has.

Exact: from the operator and the partial supports of each itemset among the original transactions of its size, or of a
pool of sizes. An adversary who knows the sizes and all supports, and sees t', expects z in t with that probability.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.transactions.breaches import (
    Event,
    by_item,
    level,
    likelihoods,
    likelihoods_knowing,
    only_whole,
)
from ppdm_flow.mining.transactions.hardest import hardest
from ppdm_flow.mining.transactions.laws import Floats
from ppdm_flow.mining.transactions.operators import TransactionOperator, members
from ppdm_flow.mining.transactions.prevalent import PrevalentItemsets

Integers = npt.NDArray[np.int64]

AT_ONCE = 20_000

Split = Callable[[Integers], tuple[Floats, Floats]]
Describe = Callable[[int, int], tuple[tuple[int, ...], int]]


@dataclass(frozen=True, slots=True)
class WorstExposure:
    """The itemset A and the item z with the largest Pr[z in t | event of A in t'] among transactions of one size.

    Attributes
    ----------
    level : that probability; 0 where there is no such itemset
    size, pool : m, and the place of its pool
    itemset, item : places in the alphabet; z is one of A or not
    prior : Pr[z in t] in the pool
    """

    level: float
    size: int
    pool: int
    itemset: tuple[int, ...]
    item: int
    prior: float


def inside(
    operator: TransactionOperator, prevalent: PrevalentItemsets, length: int, event: Event = Event.ALL
) -> list[WorstExposure]:
    """Return the worst for each size that occurs, z being one of the ``length`` items of A."""
    itemsets = prevalent.levels[length - 1].itemsets

    def describe(row: int, place: int) -> tuple[tuple[int, ...], int]:
        chosen = itemsets[row].tolist()
        return tuple(chosen), chosen[place]

    return _worst(operator, prevalent, length, length, event, _each_item, describe)


def whole_itemset_exposures(
    operator: TransactionOperator, prevalent: PrevalentItemsets, length: int
) -> list[WorstExposure]:
    """Return the worst Pr[A in t | A in t'] for each size that occurs: of all ``length`` items together.

    There is no single item: ``item`` is -1, and ``prior`` is Pr[A in t].
    """
    itemsets = prevalent.levels[length - 1].itemsets

    def describe(row: int, _place: int) -> tuple[tuple[int, ...], int]:
        return tuple(itemsets[row].tolist()), -1

    def split(patterns: Integers) -> tuple[Floats, Floats]:
        supports = by_item(patterns)[0][..., None, :]
        return supports, only_whole(supports)

    return _worst(operator, prevalent, length, length, Event.ALL, split, describe)


def outside(
    operator: TransactionOperator, prevalent: PrevalentItemsets, length: int, event: Event = Event.ALL
) -> list[WorstExposure]:
    """Return the same for z that are none of the ``length`` items of A; itemsets of one more must have been counted."""
    itemsets = prevalent.levels[length].itemsets

    def describe(row: int, place: int) -> tuple[tuple[int, ...], int]:
        chosen = itemsets[row].tolist()
        return tuple(chosen[:place] + chosen[place + 1 :]), chosen[place]

    return _worst(operator, prevalent, length + 1, length, event, by_other_item, describe)


def by_other_item(patterns: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Return s_l and s+_l for each z of an itemset, A being all its other items.

    ``patterns`` of shape (..., 2^(k+1)); both of shape (..., k + 1, k + 1), by z and by l.
    """
    given = np.asarray(patterns, dtype=np.float64)
    index = np.arange(given.shape[-1])
    length = len(index).bit_length() - 1
    supports, with_item = [], []
    for place in range(length):
        holds = index >> place & 1
        overlap = (members(index & ~(1 << place))[:, None] == np.arange(length)).astype(np.float64)
        supports.append(given @ overlap)
        with_item.append((given * holds) @ overlap)
    return np.stack(supports, axis=-2), np.stack(with_item, axis=-2)


def knowing(
    operator: TransactionOperator, prevalent: PrevalentItemsets, lengths: Sequence[int], known: int, most: float = 1.0
) -> WorstExposure | None:
    """Return the worst Pr[z in t | A in t'] for who knows ``known`` further items of t, and sees which came through.

    z is in A; A and the known items together are no more items than were counted. ``prior`` is Pr[z in t] among the
    transactions with the known items; items of which it is above ``most`` are left out. None where there is no such A.
    """
    every = [_knowing(operator, prevalent, k, known, most) for k in lengths if k + known <= prevalent.longest]
    return max((e for e in every if e.itemset), key=lambda e: e.level, default=None)


def _knowing(
    operator: TransactionOperator, prevalent: PrevalentItemsets, length: int, known: int, most: float
) -> WorstExposure:
    itemsets, patterns = prevalent.levels[length + known - 1].itemsets, prevalent.patterns(length + known)
    worst = WorstExposure(0.0, 0, 0, (), -1, 0.0)
    for chosen in combinations(range(length + known), known):
        others = [i for i in range(length + known) if i not in chosen]
        supports, with_item = _each_item(_given(patterns, chosen))
        priors = level(np.ones(length + 1), supports, with_item)
        for at, pool in enumerate(prevalent.pools):
            for m, seen in ((m, seen) for m in pool.sizes for seen in range(known + 1) if m >= known):
                likelihood = likelihoods_knowing(operator, m, length, known, seen)
                levels = level(likelihood, supports[:, at], with_item[:, at]) * (priors[:, at] <= most)
                row, place = np.unravel_index(int(np.argmax(levels)), levels.shape) if levels.size else (0, 0)
                if levels.size and levels[row, place] > worst.level:
                    itemset = tuple(itemsets[row, others].tolist())
                    prior = float(priors[row, at, place])
                    worst = WorstExposure(float(levels[row, place]), m, at, itemset, itemset[place], prior)
    return worst


def _each_item(patterns: Integers) -> tuple[Floats, Floats]:
    """Return s_l and s+_l for each z of A, both of shape (..., k, k + 1)."""
    supports, with_item = by_item(patterns)
    return np.broadcast_to(supports[..., None, :], with_item.shape), with_item


def _given(patterns: Integers, known: tuple[int, ...]) -> Integers:
    """Return the patterns of the other items among transactions that hold all known ones."""
    length = patterns.shape[-1].bit_length() - 1
    others = [i for i in range(length) if i not in known]
    index = np.arange(1 << len(others))
    full = sum(1 << i for i in known) + sum((index >> at & 1) << place for at, place in enumerate(others))
    return np.asarray(patterns[..., full])


def rest(
    operator: TransactionOperator,
    prevalent: PrevalentItemsets,
    lengths: Sequence[int],
    declared: Mapping[int, Sequence[float]] | None = None,
) -> float:
    """Return a bound on every itemset that was left out, for any partial supports; 0 where none was left out.

    Their own supports are at most the floor, those of their parts at most the largest ones of the pool, and all at
    most what is ``declared`` for their length m, where that is not empty.
    """
    maxima, below = prevalent.maxima(), prevalent.below()
    worst = 0.0
    for place, pool in enumerate(prevalent.pools):
        for m in pool.sizes:
            for length in lengths:
                likelihood = likelihoods(operator, m, length)
                if likelihood.any():
                    caps = _caps((declared or {}).get(m, ()), length + 1)
                    capped = np.minimum(maxima[: length + 1, place], caps)
                    ends = np.minimum(below[: length + 1, place], capped)
                    if length > 1:
                        worst = max(worst, hardest((*capped[: length - 1], ends[length - 1]), length, m, likelihood)[0])
                    ceilings = (*capped[:length], ends[length])
                    worst = max(worst, hardest(ceilings, length, m, likelihood, inside=False)[0])
    return worst


def _caps(declared: Sequence[float], length: int) -> Floats:
    return np.array([declared[min(i, len(declared) - 1)] if declared else 1.0 for i in range(length)])


def _worst(
    operator: TransactionOperator,
    prevalent: PrevalentItemsets,
    counted: int,
    length: int,
    event: Event,
    split: Split,
    describe: Describe,
) -> list[WorstExposure]:
    best = {m: WorstExposure(0.0, m, p, (), -1, 0.0) for p, pool in enumerate(prevalent.pools) for m in pool.sizes}
    ruled = {m: likelihoods(operator, m, length, event) for m in best}
    patterns = prevalent.patterns(counted)
    for start in range(0, len(patterns), AT_ONCE):
        piece = patterns[start : start + AT_ONCE]
        supports, with_item = split(piece)
        for m, before in best.items():
            levels = level(ruled[m], supports[:, before.pool], with_item[:, before.pool])
            row, place = np.unravel_index(int(np.argmax(levels)), levels.shape)
            if levels[row, place] > before.level:
                itemset, item = describe(start + int(row), int(place))
                prior = with_item[row, before.pool, place].sum() / prevalent.pools[before.pool].rows
                best[m] = WorstExposure(float(levels[row, place]), m, before.pool, itemset, item, float(prior))
    return [best[m] for m in sorted(best)]
