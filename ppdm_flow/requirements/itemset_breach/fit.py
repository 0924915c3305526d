"""Whether released sets are what the operator makes of the original ones, at a stated error probability."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.stats import binom

from ppdm_flow.mining.transactions.counting.vertical import item_counts
from ppdm_flow.mining.transactions.laws import Floats
from ppdm_flow.mining.transactions.operators import NONE, TransactionOperator
from ppdm_flow.requirements.itemset_breach.material import BreachInput
from ppdm_flow.requirements.itemset_breach.observed import ObservedPairs
from ppdm_flow.requirements.itemset_breach.tails import binomial, mixed, summed

Integers = npt.NDArray[np.int64]

ERROR = 1e-6
"""The probability that sets which follow their operator are rejected."""


@dataclass(frozen=True, slots=True)
class ObservationFit:
    """``p`` bounds the probability of something as unlikely as was observed, ``what``, on ``rows`` rows."""

    p: float
    what: str
    rows: int

    @property
    def holds(self) -> bool:
        """Whether the sets can be what the operator made."""
        return self.p >= ERROR


def fit_of(material: BreachInput, seen: ObservedPairs | None) -> ObservationFit:
    """Hold what was observed against the operator; without pairs the counts of items alone."""
    tests = list(_marginal(material) if seen is None else _paired(material.operator, seen))
    p, what = min(((float(np.min(p, initial=1.0)), what) for what, p in tests), default=(1.0, ""))
    number = sum(max(1, np.size(p)) for _, p in tests)
    return ObservationFit(min(1.0, p * number), what, sum(material.released.values()))


def _paired(operator: TransactionOperator, seen: ObservedPairs) -> Iterator[tuple[str, Floats]]:
    if seen.lengths_differ:
        yield "the published lengths are not those of the original sets", np.zeros(1)
    kept, came = chances(operator)
    yield "items of the original sets stayed too often or too rarely", binomial(seen.kept, seen.own, kept[:, None])
    others = seen.rows[:, None] - seen.own
    yield "other items came in too often or too rarely", binomial(seen.there - seen.kept, others, came[:, None])
    for place, m in enumerate(seen.sizes):
        counts = seen.overlaps[place]
        law = np.zeros(len(counts))
        law[: m + 1] = operator.law(m)
        yield "the numbers of items that stayed are not those of the operator", binomial(counts, seen.rows[place], law)
    if operator.refills or operator.family == NONE:
        yield "a set has too few or too many other items", _strict(operator, seen)
        return
    outside = operator.alphabet - np.array(operator.sizes)
    deviation = (seen.there - seen.kept).sum(axis=1) - seen.rows * outside * came
    spread = seen.rows * outside * came * (1.0 - came)
    yield "too many or too few other items came in", summed(deviation, spread, outside)
    if seen.exact:
        share = binom.cdf(seen.edges, outside[:, None], came[:, None])
        yield "sets differ too much or too little in other items", binomial(seen.reached, seen.rows[:, None], share)
        yield "a set has far too few or too many other items", _extremes(operator, seen)


def chances(operator: TransactionOperator) -> tuple[Floats, Floats]:
    """Return the probability that an item of a set stays, and that another one comes in, (sizes,)."""
    kept, came = [], []
    for m in operator.sizes:
        mean = float(np.arange(m + 1) @ operator.law(m))
        kept.append(mean / m if m else 0.0)
        outside = operator.alphabet - m
        new = m - mean + operator.inserted
        came.append(new / max(1, outside) if operator.refills else operator.rho(m))
    return np.minimum(np.array(kept), 1.0), np.array(came)


def _extremes(operator: TransactionOperator, seen: ObservedPairs) -> Floats:
    """Return the tails of the least and the largest number of items that came in, over all rows of a length."""
    there = seen.rows > 0
    outside = (operator.alphabet - np.array(operator.sizes))[there, None]
    came = chances(operator)[1][there, None]
    ends = np.column_stack((seen.fewest, seen.most))[there]
    return np.minimum(1.0, binomial(ends, outside, came) * seen.rows[there, None])


def _strict(operator: TransactionOperator, seen: ObservedPairs) -> Floats:
    """Return 0 for a length of which a row has another number of items than it had, 1 for others.

    What is not counted by rows follows from the numbers of items that stayed.
    """
    most = np.array([m + operator.inserted if operator.refills else 0 for m in operator.sizes])
    stayed = (seen.overlaps * np.arange(seen.overlaps.shape[1])).sum(axis=1)
    expected = most * seen.rows - (stayed if operator.refills else 0)
    came = (seen.there - seen.kept).sum(axis=1)
    return np.asarray((came == expected) & (seen.most <= most), dtype=np.float64)


def _marginal(material: BreachInput) -> Iterator[tuple[str, Floats]]:
    """Hold the released counts of items against what the original's would become."""
    operator = material.operator
    sizes = np.array(operator.sizes)
    own, there = (np.zeros((len(sizes), operator.alphabet), dtype=np.int64) for _ in range(2))
    for part in material.partitions():
        known, counts = item_counts(part)
        own[np.searchsorted(sizes, known)] += counts
    for sets in material.sets():
        known, counts = item_counts(sets)
        there[np.searchsorted(sizes, known)] += counts
    rows = np.array([material.numbers.get(m, 0) for m in operator.sizes])
    kept, came = chances(operator)
    expected = own * kept[:, None] + (rows[:, None] - own) * came[:, None]
    yield "items are released too often or too rarely", mixed(there, rows[:, None], expected)
