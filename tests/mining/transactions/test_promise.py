"""With the right maximal supports no itemset of real baskets is breached above the level."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from ppdm_flow.mining.transactions.breaches import by_item, level, level_over_sizes, likelihoods
from ppdm_flow.mining.transactions.choosing import choose
from ppdm_flow.mining.transactions.operators import members

ITEMS = 12


def baskets(rng, size, number):
    """Return baskets of ``size`` items as rows of 0 and 1, with favourite items and a favourite set."""
    taste = rng.gumbel(size=(number, ITEMS)) - 0.1 * np.arange(ITEMS)
    taste[: number // 12, rng.permutation(ITEMS)[:3]] += 6
    order = np.argsort(-taste, axis=1)[:, :size]
    held = np.zeros((number, ITEMS), dtype=bool)
    np.put_along_axis(held, order, values=True, axis=1)
    return held


def largest(held, length):
    return max(float(held[:, chosen].all(axis=1).mean()) for chosen in map(list, combinations(range(ITEMS), length)))


def worst_item(held, chosen, operator, size):
    """Return the largest level of an item in the set or not, and s_l, s+_l by item."""
    k = len(chosen)
    overlap = held[:, chosen].sum(axis=1)
    supports = np.bincount(overlap, minlength=k + 1).astype(float)
    with_item = np.array([np.bincount(overlap[held[:, z]], minlength=k + 1) for z in range(ITEMS)], dtype=float)
    reached = likelihoods(operator, size, k)
    return float(level(reached, np.broadcast_to(supports, with_item.shape), with_item).max()), supports, with_item


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("asked", [0.7, 0.9])
def test_no_itemset_is_breached(seed, asked):
    rng = np.random.default_rng([771, seed])
    data = {m: baskets(rng, m, 60 * m) for m in (1, 2, 4)}
    maxima = {m: [max(largest(held, k), 1e-9) for k in (1, 2, 3, 4)] for m, held in data.items()}
    chosen = choose(maxima, {m: len(held) for m, held in data.items()}, ITEMS, level=asked)
    worst = 0.0
    for k in (1, 2, 3):
        for items in map(list, combinations(range(ITEMS), k)):
            each = {m: worst_item(held, items, chosen.operator, m) for m, held in data.items()}
            worst = max(worst, *(found[0] for found in each.values()))
            reached = {m: likelihoods(chosen.operator, m, k) for m in data}
            blind = level_over_sizes(
                reached,
                {m: np.broadcast_to(f[1], f[2].shape) for m, f in each.items()},
                {m: f[2] for m, f in each.items()},
            )
            assert blind.max() <= max(found[0] for found in each.values()) + 1e-12
    assert asked - 0.25 < worst <= asked + 1e-9


def test_patterns_say_the_same():
    held = baskets(np.random.default_rng(3), 4, 500)
    chosen = [0, 2, 5]
    index = held[:, chosen] @ (1 << np.arange(3))
    supports, with_item = by_item(np.bincount(index, minlength=8))
    overlap = held[:, chosen].sum(axis=1)
    np.testing.assert_array_equal(supports, np.bincount(overlap, minlength=4))
    for place, z in enumerate(chosen):
        np.testing.assert_array_equal(with_item[place], np.bincount(members(index)[held[:, z]], minlength=4))
