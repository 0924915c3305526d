"""Sets that were not randomized: counts, and rules with neither error nor interval."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import combinations

import numpy as np

from ppdm_flow.api.mine.answer import ItemsetsOfSize, MinedRelease, MiningOptions
from ppdm_flow.api.mine.sets import Sets
from ppdm_flow.engine.events import Listener, StepFinished, StepStarted
from ppdm_flow.mining.transactions.apriori import LENGTH, NO_CANDIDATES, Level, exact, patterns, places
from ppdm_flow.mining.transactions.counting.vertical import partial
from ppdm_flow.mining.transactions.rules import LONGEST, AssociationRule, SupportRatio
from ppdm_flow.tables.sets import Baskets

_MOST_PATTERNS = 1 << 18
"""Numbers that itemsets of a size are taken apart into, at most."""


def mined_plain(sets: Sets, options: MiningOptions, least: float, listener: Listener) -> MinedRelease:
    """Count the frequent itemsets. Raises PluginError PPF775 for too many."""
    (parts,) = sets.partitions()
    rows = len(parts)
    listener(StepStarted("itemsets"))
    started = time.perf_counter()
    levels = exact(parts, options.min_support.rows(rows), options.max_length) if isinstance(parts, Baskets) else []
    listener(StepFinished("itemsets", time.perf_counter() - started, rows))
    return MinedRelease(
        file=sets.file,
        attribute=sets.column,
        rows=rows,
        names=tuple(sets.names.to_pylist()),
        operator=None,
        options=options,
        least=least,
        sizes=tuple(_sorted(levels, level, rows, len(sets.names)) for level in levels),
        stopped=LENGTH if options.max_length is not None and len(levels) == options.max_length else NO_CANDIDATES,
        rules=tuple(_ranked(_rules(levels, rows, len(sets.names), options))) if options.rules else None,
    )


def _sorted(levels: list[Level], level: Level, rows: int, alphabet: int) -> ItemsetsOfSize:
    order = np.argsort(-level.counts[:, 0], kind="stable")
    items, counts = level.itemsets[order], level.counts[order]
    share = counts[:, 0] / rows
    parts = None
    if items.shape[1] <= LONGEST and len(items) << items.shape[1] <= _MOST_PATTERNS:
        # all parts of a frequent itemset are frequent, so they were counted
        held = patterns(levels, items, counts, np.array([rows]), alphabet)
        parts = partial(held)[:, 0] / rows
    return ItemsetsOfSize(items, share, np.zeros(len(share)), share, share, candidates=0, partial=parts)


def _rules(levels: list[Level], rows: int, alphabet: int, options: MiningOptions) -> Iterator[AssociationRule]:
    """Yield the rules, whole arrays at a time: all parts of a frequent itemset are frequent, so they were counted."""
    for level in levels[1:]:
        size = level.itemsets.shape[1]
        for length in range(1, size):
            for chosen in combinations(range(size), length):
                rest = [i for i in range(size) if i not in chosen]
                yield from _of(levels, level, list(chosen), rest, rows, alphabet, options)


def _of(
    levels: list[Level],
    level: Level,
    chosen: list[int],
    rest: list[int],
    rows: int,
    alphabet: int,
    options: MiningOptions,
) -> Iterator[AssociationRule]:
    first, second = level.itemsets[:, chosen], level.itemsets[:, rest]
    both = level.counts[:, 0]
    below = levels[len(chosen) - 1].counts[places(levels, first, alphabet), 0]
    other = levels[len(rest) - 1].counts[places(levels, second, alphabet), 0]
    sure, lift = both / below, both / below * (rows / other)
    good = sure >= options.min_confidence - 1e-12
    if options.min_lift is not None:
        good &= lift >= options.min_lift - 1e-12
    for i in np.flatnonzero(good).tolist():
        yield AssociationRule(
            tuple(first[i].tolist()),
            tuple(second[i].tolist()),
            float(both[i] / rows),
            0.0,
            _known(float(sure[i])),
            _known(float(lift[i])),
        )


def _known(value: float) -> SupportRatio:
    return SupportRatio(value, 0.0, value, value)


def _ranked(rules: Iterator[AssociationRule]) -> list[AssociationRule]:
    return sorted(rules, key=lambda r: (-(r.confidence.value or 0.0), -r.support, r.antecedent, r.consequent))
