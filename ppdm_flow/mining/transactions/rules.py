"""Association rules of what was mined, each with intervals for its confidence and lift."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ppdm_flow.mining.transactions.apriori import Mined
from ppdm_flow.mining.transactions.associations import Ratio, confidence, lift
from ppdm_flow.mining.transactions.estimates import LEVEL
from ppdm_flow.mining.transactions.patterns import LONGEST, Subsets, subsets


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
        for itemset, by_class in zip(itemsets.tolist(), counts, strict=True):
            here = {m: by_class[c] for c, m in enumerate(mined.operator.sizes) if mined.rows[c]}
            yield from _of(itemset, subsets(mined.operator, here), min_confidence, level)


def _of(itemset: list[int], found: Subsets, min_confidence: float, level: float) -> Iterator[Rule]:
    whole = (1 << len(itemset)) - 1
    sigma = float(np.sqrt(max(found.covariance[whole, whole], 0.0)))
    for antecedent in range(1, whole):
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


def _items(itemset: list[int], pattern: int) -> tuple[int, ...]:
    return tuple(item for place, item in enumerate(itemset) if pattern >> place & 1)
