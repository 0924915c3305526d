"""Breach levels against Bayes by enumeration, the paper's numbers, and amplification by enumeration."""

from __future__ import annotations

import math
from itertools import combinations, product

import numpy as np
import pytest

from ppdm_flow.mining.transactions.breaches import (
    Event,
    by_item,
    certainty,
    epsilon,
    exchangeable,
    level,
    level_over_sizes,
    likelihoods,
    likelihoods_knowing,
    posterior_bound,
)
from ppdm_flow.mining.transactions.laws import binomial_law
from ppdm_flow.mining.transactions.operators import TransactionOperator, transition

ALPHABET = 7


def densities(operator, size):
    """Return p[t -> t'] for all t of ``size`` items and all sets t', from the definition: (t, 2^n)."""
    baskets = list(combinations(range(operator.alphabet), size))
    found = np.zeros((len(baskets), 1 << operator.alphabet))
    for row, t in enumerate(baskets):
        rest = [item for item in range(operator.alphabet) if item not in t]
        for kept, chance in enumerate(operator.law(size)):
            ways = list(combinations(t, kept))
            for mine in ways:
                for others, weight in additions(operator, size, kept, rest):
                    found[row, sum(1 << i for i in (*mine, *others))] += chance / len(ways) * weight
    return baskets, found


def additions(operator, size, kept, rest):
    if operator.refills:
        sets = list(combinations(rest, size - kept + operator.inserted))
        return [(others, 1 / len(sets)) for others in sets]
    rho = operator.rho(size)
    coins = product((0, 1), repeat=len(rest))
    return [
        ([i for i, c in zip(rest, coin, strict=True) if c], rho ** sum(coin) * (1 - rho) ** (len(rest) - sum(coin)))
        for coin in coins
    ]


OPERATORS = [
    TransactionOperator.cut_and_paste({3: 2}, {3: 0.3}, ALPHABET),
    TransactionOperator.cut_and_paste({3: 7}, {3: 0.1}, ALPHABET),
    TransactionOperator.select_a_size({3: [0.1, 0.5, 0.2, 0.2]}, {3: 0.4}, ALPHABET),
    TransactionOperator.uniform([3], 0.3, ALPHABET),
    TransactionOperator.uniform([3], 0.3, ALPHABET, 1),
]


def seen(event, itemset):
    every = sum(1 << i for i in itemset)
    return {
        Event.ALL: lambda u: u & every == every,
        Event.NOT_ALL: lambda u: u & every != every,
        Event.NONE: lambda u: u & every == 0,
    }[event]


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("event", list(Event))
@pytest.mark.parametrize("known", [(), (2,), (2, 3)])
def test_levels_equal_bayes(operator, event, known):
    baskets, chance = densities(operator, 3)
    prior = np.random.default_rng(4).dirichlet(np.full(len(baskets), 0.5))
    prior = prior * [set(known) <= set(t) for t in baskets]
    itemset = (0, 1)
    happens = seen(event, itemset)
    for came in range(len(known) + 1):
        matches = [happens(u) and sum(u >> b & 1 for b in known) == came for u in range(1 << ALPHABET)]
        weight = prior * chance[:, matches].sum(axis=1)
        likelihood = likelihoods_knowing(operator, 3, 2, len(known), came, event)
        overlap = np.array([len(set(t) & set(itemset)) for t in baskets])
        for z in (0, 4):
            held = np.array([z in t for t in baskets])
            supports = np.bincount(overlap, weights=prior, minlength=3)
            with_item = np.bincount(overlap, weights=prior * held, minlength=3)
            expected = weight[held].sum() / weight.sum() if weight.sum() > 0 else 0.0
            assert level(likelihood, supports, with_item) == pytest.approx(expected)


def test_known_items_that_are_not_looked_at():
    operator = OPERATORS[0]
    both = [likelihoods_knowing(operator, 3, 2, 1, came) for came in (0, 1)]
    np.testing.assert_allclose((both[0] + both[1])[:3], [*likelihoods(operator, 3, 2)[:2], both[0][2] + both[1][2]])
    with pytest.raises(ValueError, match="can be seen"):
        likelihoods_knowing(operator, 3, 2, 1, 2)
    with pytest.raises(ValueError, match="can be seen"):
        likelihoods_knowing(operator, 3, 2, 4, 2)


def test_golden_formula():
    """Level = sum s+_l P[k, l] / sum s_l P[k, l]."""
    operator = TransactionOperator.cut_and_paste({5: 3}, {5: 0.2}, 100)
    supports = np.array([0.9, 0.06, 0.03, 0.01])
    last = [0.008, 0.0176, 0.04, 0.088]
    expected = (0.06 / 3 * last[1] + 0.03 * 2 / 3 * last[2] + 0.01 * last[3]) / (supports @ last)
    assert level(likelihoods(operator, 5, 3), supports, exchangeable(supports)) == pytest.approx(expected)


def test_golden_uniform_randomization():
    """10 million baskets of 10 items of 10,000; 1 % hold {x, y, z}, 5 % two of them, 94 % at most one."""
    operator = TransactionOperator.uniform([10], 0.2, 10_000)
    reached = likelihoods(operator, 10, 3)
    assert 1e5 * reached[3] == pytest.approx(800, rel=1e-9)
    # The paper bounds the rest: of the items that are not kept on purpose, as if all were replaced.
    bounds = 0.2 ** np.arange(4) * ((10 - np.arange(4)) / 10_000) ** (3 - np.arange(4))
    groups = np.array([9.4e6 * bounds[1], 5e5 * bounds[2], 1e5 * bounds[3]])
    np.testing.assert_allclose(groups, [1.5228, 16, 800])
    np.testing.assert_allclose(100 * groups / groups.sum(), [0.19, 1.96, 97.9], atol=0.05)
    exact = np.array([9.4e6 * max(reached[:2]), 5e5 * reached[2], 1e5 * reached[3]])
    assert exact[1] == pytest.approx(5e5 * 0.04 * 6.4 / 9990, rel=1e-9)  # 6.4 of the other 8 are replaced on average
    assert (exact <= groups * (1 + 1e-9)).all()
    assert exact[0] < 2
    supports = np.array([0.0, 0.94, 0.05, 0.01])
    breach = float(level(reached, supports, [0, 0, 0, 0.01]))
    assert 0.979 < breach < 0.985
    assert float(certainty(reached, supports)) == breach
    none_of_it = [0.94, 0.0, 0.05, 0.01]  # the talk's 94 % have one item or none
    assert float(certainty(reached, none_of_it)) == pytest.approx(0.984, abs=5e-4)
    assert certainty(reached, [supports, np.eye(4)[3]]) == pytest.approx([breach, 1.0])


def test_golden_inserting_exactly_so_many_items():
    """The talk's back-up slide: 800 true {x, y, z} stay, and roughly 1250 of the other sets come to hold it.

    Exactly so many new items make the same number, by a sum over how many of ten items stay; those that replace others
    count too, so that there are 1309 and not (500 / 10,000)^3.
    """
    operator = TransactionOperator.uniform([10], 0.2, 10_000, 500)
    reached = transition(operator, 10, 3)[3]
    assert 1e5 * reached[3] == pytest.approx(800)
    kept = binomial_law(10, 0.2)
    new = 510 - np.arange(11)
    expected = float(kept @ (new * (new - 1) * (new - 2))) / (9990 * 9989 * 9988)
    assert 1e7 * reached[0] == pytest.approx(1e7 * expected)
    assert 1e7 * reached[0] == pytest.approx(1250, rel=0.06)
    supports = np.array([0.99, 0.0, 0.0, 0.01])
    assert float(level(reached, supports, [0, 0, 0, 0.01])) == pytest.approx(800 / (800 + 9.9e6 * reached[0]))


def test_golden_inserting_many_items():
    """500 random items in each basket: 10 million (500 / 10,000)^3 = 1250 false {x, y, z}."""
    operator = TransactionOperator.select_a_size({10: binomial_law(10, 0.2)}, {10: 0.05}, 10_000)
    reached = transition(operator, 10, 3)[3]
    assert 1e7 * reached[0] == pytest.approx(1250)
    assert 1e5 * reached[3] == pytest.approx(800)


def test_by_item():
    patterns = np.array([0.5, 0.1, 0.05, 0.15, 0.02, 0.08, 0.04, 0.06])
    supports, with_item = by_item(patterns)
    np.testing.assert_allclose(supports, [0.5, 0.17, 0.27, 0.06])
    np.testing.assert_allclose(with_item, [[0, 0.1, 0.23, 0.06], [0, 0.05, 0.19, 0.06], [0, 0.02, 0.12, 0.06]])
    np.testing.assert_allclose(with_item.sum(axis=0) / 3, exchangeable(supports))
    assert by_item(np.ones((5, 4)))[1].shape == (5, 2, 3)


def test_levels_over_sizes():
    """Who does not know the size sees a mean, weighted by how often each size shows the event."""
    operator = TransactionOperator.cut_and_paste({3: 3, 6: 4}, {3: 0.1, 6: 0.5}, 100)
    reached = {m: likelihoods(operator, m, 2) for m in (3, 6)}
    supports = {3: np.array([80.0, 15, 5]), 6: np.array([100.0, 60, 40])}
    with_item = {m: exchangeable(given) for m, given in supports.items()}
    each = [float(level(reached[m], supports[m], with_item[m])) for m in (3, 6)]
    both = float(level_over_sizes(reached, supports, with_item))
    assert min(each) < both < max(each)
    assert level([0, 0, 0], supports[3], with_item[3]) == 0


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("differing", [None, 1, 2])
def test_epsilon_equals_enumeration(operator, differing):
    baskets, chance = densities(operator, 3)
    largest = 1.0
    for first, second in product(range(len(baskets)), repeat=2):
        apart = 3 - len(set(baskets[first]) & set(baskets[second]))
        if differing is None or apart <= differing:
            possible = chance[first] > 0
            largest = max(largest, float((chance[first][possible] / chance[second][possible]).max()))
    assert epsilon(operator, 3, differing) == pytest.approx(math.log(largest))


def test_epsilon_of_crowded_alphabets():
    """With 3 of 4 items in each basket two of them differ in one."""
    operator = TransactionOperator.cut_and_paste({3: 3}, {3: 0.3}, 4)
    _, chance = densities(operator, 3)
    ratios = chance[:, None] / chance[None]
    assert epsilon(operator, 3) == pytest.approx(math.log(ratios.max()))
    assert epsilon(TransactionOperator.cut_and_paste({4: 3}, {4: 0.3}, 4), 4) == 0


def test_epsilon_without_bound():
    assert epsilon(TransactionOperator.none([3], 6), 3) == math.inf
    assert epsilon(TransactionOperator.none([6, 0], 6), 6) == epsilon(TransactionOperator.none([6, 0], 6), 0) == 0
    assert epsilon(TransactionOperator.select_a_size({2: [0.5, 0.5, 0]}, {2: 0.2}, 9), 2) == math.inf


@pytest.mark.parametrize("operator", OPERATORS)
def test_no_posterior_is_above_its_bound(operator):
    baskets, chance = densities(operator, 3)
    nats = epsilon(operator, 3)
    rng = np.random.default_rng(9)
    for _ in range(20):
        prior = rng.dirichlet(np.full(len(baskets), 0.2))
        held = np.array([0 in t for t in baskets])
        posterior = (prior[held] @ chance[held]) / np.maximum(prior @ chance, 1e-300)
        assert posterior.max() <= posterior_bound(float(prior[held].sum()), nats) + 1e-12
    assert posterior_bound(0.0, 1.0) == 0
    assert posterior_bound(0.5, 0.0) == 0.5
    assert posterior_bound(0.5, math.inf) == 1
