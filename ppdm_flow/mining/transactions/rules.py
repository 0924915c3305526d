"""Association rules of what was mined, each with intervals for its confidence and lift."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.transactions.apriori.apriori import Mined
from ppdm_flow.mining.transactions.apriori.levels import places
from ppdm_flow.mining.transactions.associations import Ratio, confidence, lift
from ppdm_flow.mining.transactions.estimates import LEVEL
from ppdm_flow.mining.transactions.patterns import LONGEST, Subsets, subsets

_NEAR = 1e-6
"""Estimates of one support by two formulas differ by rounding only: much less than this."""


@dataclass(frozen=True, slots=True)
class Rule:
    """``antecedent`` => ``consequent``, item numbers ascending; ``support`` and its ``sigma`` are of both together."""

    antecedent: tuple[int, ...]
    consequent: tuple[int, ...]
    support: float
    sigma: float
    confidence: Ratio
    lift: Ratio


def rules(mined: Mined, min_confidence: float = 0.0, level: float = LEVEL) -> Iterator[Rule]:
    """Yield all rules of the frequent itemsets of 2 to 10 items with an estimated confidence of at least this.

    A rule whose antecedent's support is not told from 0 has no confidence and is left out.
    """
    for size in range(2, min(len(mined.found), LONGEST) + 1):
        itemsets, counts = mined.patterns(size)
        likely = _likely(mined, size, min_confidence)
        for itemset, by_class, some in zip(itemsets.tolist(), counts, likely, strict=True):
            if some.any():
                here = {m: by_class[c] for c, m in enumerate(mined.operator.sizes) if mined.rows[c]}
                chosen = np.flatnonzero(some).tolist()
                yield from _of(itemset, chosen, subsets(mined.operator, here), min_confidence, level)


def _likely(mined: Mined, size: int, min_confidence: float) -> npt.NDArray[np.bool_]:
    """Return for each frequent itemset which of its parts imply the rest by the estimates alone, (n, 2^k)."""
    last = mined.found[size - 1]
    itemsets, value = last.itemsets[last.frequent], last.estimates.value[last.frequent]
    found = np.zeros((len(itemsets), 1 << size), dtype=bool)
    for part in range(1, (1 << size) - 1):
        items = [place for place in range(size) if part >> place & 1]
        at = places(mined.levels, itemsets[:, items], mined.operator.alphabet)
        below = mined.found[len(items) - 1].estimates.value[at]
        found[:, part] = (below > 0.0) & (value >= (min_confidence - _NEAR) * below)
    return found


def _of(itemset: list[int], parts: list[int], found: Subsets, min_confidence: float, level: float) -> Iterator[Rule]:
    whole = (1 << len(itemset)) - 1
    sigma = _sigma(found, whole)
    for antecedent in parts:
        sure = confidence(found, antecedent, whole ^ antecedent, level)
        if sure.value is None or sure.value < min_confidence:
            continue
        yield Rule(
            _items(itemset, antecedent),
            _items(itemset, whole ^ antecedent),
            float(found.value[whole]),
            sigma,
            sure,
            lift(found, antecedent, whole ^ antecedent, level),
        )


def _sigma(found: Subsets, chosen: int) -> float:
    slope = np.zeros(len(found.value))
    slope[chosen] = 1.0
    return float(np.sqrt(found.variance(slope)))


def _items(itemset: list[int], pattern: int) -> tuple[int, ...]:
    return tuple(item for place, item in enumerate(itemset) if pattern >> place & 1)
