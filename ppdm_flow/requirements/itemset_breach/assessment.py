"""One released column of sets under one requirement: what may be inferred, and whether that can be relied on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.requirement import TOLERANCE, within
from ppdm_flow.mining.transactions.breaches import Event, epsilon, likelihoods
from ppdm_flow.mining.transactions.exposure import WorstExposure, inside, knowing, outside, rest, whole
from ppdm_flow.mining.transactions.hardest import hardest
from ppdm_flow.mining.transactions.prevalent import PrevalentItemsets, pools, prevalent
from ppdm_flow.requirements.itemset_breach.fit import ObservationFit, fit_of
from ppdm_flow.requirements.itemset_breach.material import BreachInput
from ppdm_flow.requirements.itemset_breach.observed import ObservedPairs, WatchedItem, observed
from ppdm_flow.requirements.itemset_breach.requirement import ItemsetBreach

SHOWN = 4
"""Itemsets of each size and kind that are watched in the released sets."""

Bounds = Mapping[int, tuple[float, ...]]


@dataclass(frozen=True, slots=True, eq=False)
class BreachAssessment:
    """What may be inferred from one released column of sets, and whether that can be relied on.

    Attributes
    ----------
    within, beside : k -> the worst for each length, z in A and not in A
    whole : the same for A as a whole: that the original has all of it
    larger : the same for A of one item more than asked for, z in A
    absent, known : the worst if A is not in t'; number of known items -> the worst for who knows that many
    rest : what no itemset that was not counted exceeds
    bound : what no data with the policy's maximal supports exceed; None where it gives none
    exceeded : lengths whose itemsets are more frequent than the policy says
    """

    requirement: ItemsetBreach
    material: BreachInput
    counted: PrevalentItemsets
    within: Mapping[int, Sequence[WorstExposure]]
    beside: Mapping[int, Sequence[WorstExposure]]
    whole: Mapping[int, Sequence[WorstExposure]]
    larger: WorstExposure
    absent: WorstExposure
    known: Mapping[int, WorstExposure]
    rest: float
    bound: float | None
    exceeded: tuple[int, ...]
    watched: tuple[WatchedItem, ...]
    seen: ObservedPairs | None
    fit: ObservationFit

    @property
    def worst(self) -> WorstExposure:
        """The itemset and item of which most is learned."""
        return max((e for some in (self.within, self.beside) for each in some.values() for e in each), key=level_of)

    @property
    def doubtful(self) -> bool:
        """Whether a rarer itemset may exceed the level, which no counted one does."""
        level = self.requirement.level
        return within(self.worst.level, level, at_most=True) and not within(self.rest, level, at_most=True)

    @property
    def reliable(self) -> bool:
        """Whether what was computed can be relied on."""
        return self.fit.holds and not self.exceeded and not self.doubtful

    @property
    def epsilon(self) -> float:
        """The amplification of one item replaced by another, in nats; may be infinite."""
        return max((epsilon(self.material.operator, m, 1) for m in self.material.numbers if m), default=0.0)

    @property
    def counted_itemsets(self) -> int:
        """How many itemsets were counted."""
        return sum(len(level.itemsets) for level in self.counted.levels)

    def measured(self, exposed: WorstExposure) -> tuple[int, int]:
        """Return the released sets with the itemset, and those of them with the item, in the pool of the length."""
        wanted = WatchedItem(exposed.itemset, exposed.item)
        if self.seen is None or wanted not in self.watched:
            return 0, 0
        which = self.watched.index(wanted)
        there = np.isin(np.array(self.seen.sizes), np.array(self.counted.pools[exposed.pool].sizes))
        return int(self.seen.seen[which, there].sum()), int(self.seen.hits[which, there].sum())


def assess(requirement: ItemsetBreach, material: BreachInput) -> BreachAssessment:
    """Count, predict, and look at the released sets."""
    numbers = {m: n for m, n in material.numbers.items() if m}
    together = pools(numbers, requirement.pool)
    longest = max(requirement.sizes) + 1
    counted = prevalent(material.partitions, together, material.operator.alphabet, longest)
    within_ = {k: inside(material.operator, counted, k) for k in requirement.sizes}
    beside = {k: outside(material.operator, counted, k) for k in requirement.sizes}
    watched = _watched(within_, beside)
    seen = observed(material, watched)
    caps = {m: requirement.declared(m) for m in numbers}
    return BreachAssessment(
        requirement=requirement,
        material=material,
        counted=counted,
        within=within_,
        beside=beside,
        whole={k: whole(material.operator, counted, k) for k in requirement.sizes},
        larger=max(inside(material.operator, counted, longest), key=level_of),
        absent=max(
            (e for k in requirement.sizes for e in inside(material.operator, counted, k, Event.NONE)), key=level_of
        ),
        known=_known(material, counted, requirement),
        rest=rest(material.operator, counted, requirement.sizes, caps),
        bound=_bound(material, caps, requirement.sizes),
        exceeded=_exceeded(counted, caps),
        watched=watched,
        seen=seen,
        fit=fit_of(material, seen),
    )


def _known(material: BreachInput, counted: PrevalentItemsets, requirement: ItemsetBreach) -> dict[int, WorstExposure]:
    worst = {
        known: knowing(material.operator, counted, requirement.sizes, known, requirement.level) for known in (1, 2)
    }
    return {known: exposed for known, exposed in worst.items() if exposed is not None}


def _watched(*some: Mapping[int, Sequence[WorstExposure]]) -> tuple[WatchedItem, ...]:
    """Return the worst itemsets of each size and kind."""
    chosen = []
    for kind in some:
        for each in kind.values():
            chosen += [e for e in sorted(each, key=level_of, reverse=True) if e.itemset][:SHOWN]
    return tuple(dict.fromkeys(WatchedItem(e.itemset, e.item) for e in chosen))


def _bound(material: BreachInput, caps: Bounds, sizes: Sequence[int]) -> float | None:
    if not all(caps.values()):
        return None
    levels = [0.0]
    for m, maxima in caps.items():
        for k in sizes:
            likelihood = likelihoods(material.operator, m, k)
            if likelihood.any():
                levels += [hardest(maxima, k, m, likelihood, inside=side)[0] for side in (True, False)]
    return max(levels)


def _exceeded(counted: PrevalentItemsets, caps: Bounds) -> tuple[int, ...]:
    """Return the lengths at which some itemset occurs more often than the policy says."""
    held = largest(counted)
    over = []
    for place, pool in enumerate(counted.pools):
        for m in pool.sizes:
            limits = caps[m]
            most = [
                held[i, place] > limits[min(i, len(limits) - 1)] * (1 + TOLERANCE)
                for i in range(len(held) - 1)
                if limits
            ]
            over += [m] if any(most) else []
    return tuple(over)


def largest(counted: PrevalentItemsets) -> npt.NDArray[np.float64]:
    """Return the largest share of a pool that an itemset of 1, 2, .. items was counted in, (longest, pools)."""
    counts = [level.counts.max(axis=0, initial=0) for level in counted.levels]
    return np.asarray(np.array(counts) / counted.rows)


def level_of(exposed: WorstExposure) -> float:
    """Return the posterior, to order by."""
    return exposed.level
