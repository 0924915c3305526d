"""Transition matrices against enumeration of everything that an operator may do."""

from __future__ import annotations

from itertools import combinations, product
from math import comb

import numpy as np
import pytest

from ppdm_flow.core.errors import DataError, PluginError
from ppdm_flow.mining.transactions.operators import (
    TransactionOperator,
    noise,
    occurring,
    pattern_transition,
    recovery,
    transition,
    weights,
)


def pasted(size, held, length, cutoff, rho):
    """Return Pr[t' ∩ A = u'] for t = 0..m-1, A = ``held`` items of t and others: every cut, every coin for A."""
    itemset = [*range(held), *range(size, size + length - held)]
    found = np.zeros(1 << length)
    for drawn in range(cutoff + 1):
        cuts = list(combinations(range(size), min(drawn, size)))
        for cut in cuts:
            for coins in product((0, 1), repeat=length):
                chance = 1.0 / (cutoff + 1) / len(cuts)
                for item, coin in zip(itemset, coins, strict=True):
                    chance *= float(coin) if item in cut else (rho if coin else 1 - rho)
                found[sum(coin << i for i, coin in enumerate(coins))] += chance
    return found


def refilled(size, held, length, keep, alphabet, inserted=0):
    """Return the same for uniform randomization: every set that is kept, every set that comes in."""
    itemset = [*range(held), *range(size, size + length - held)]
    found = np.zeros(1 << length)
    for flags in product((0, 1), repeat=size):
        kept = [item for item, flag in enumerate(flags) if flag]
        chance = keep ** len(kept) * (1 - keep) ** (size - len(kept))
        new = list(combinations(range(size, alphabet), size - len(kept) + inserted))
        for came in new:
            outcome = {*kept, *came}
            found[sum(1 << i for i, item in enumerate(itemset) if item in outcome)] += chance / len(new)
    return found


def overlaps(pattern, length):
    return np.bincount([u.bit_count() for u in range(1 << length)], weights=pattern, minlength=length + 1)


def test_golden_matrix():
    operator = TransactionOperator.cut_and_paste({5: 3}, {5: 0.2}, 100)
    golden = [
        [0.512, 0.3584, 0.256, 0.192],
        [0.384, 0.4608, 0.448, 0.384],
        [0.096, 0.1632, 0.256, 0.336],
        [0.008, 0.0176, 0.040, 0.088],
    ]
    np.testing.assert_allclose(transition(operator, 5, 3), golden, atol=1e-12)


@pytest.mark.slow(quick=24)
@pytest.mark.parametrize("size", range(1, 9))
@pytest.mark.parametrize(("cutoff", "rho"), [(0, 0.3), (2, 0.05), (3, 0.2), (5, 0.5), (12, 0.9)])
def test_cut_and_paste_equals_enumeration(size, cutoff, rho):
    operator = TransactionOperator.cut_and_paste({size: cutoff}, {size: rho}, 30)
    for length in range(1, 5):
        matrix, patterns = transition(operator, size, length), pattern_transition(operator, size, length)
        for held in range(min(size, length) + 1):
            expected = pasted(size, held, length, cutoff, rho)
            np.testing.assert_allclose(patterns[:, (1 << held) - 1], expected, atol=1e-13)
            np.testing.assert_allclose(matrix[:, held], overlaps(expected, length), atol=1e-13)
        assert not matrix[:, min(size, length) + 1 :].any()


@pytest.mark.parametrize("size", range(1, 5))
@pytest.mark.parametrize("keep", [0.2, 0.7])
@pytest.mark.parametrize("inserted", [0, 1, 2])
def test_uniform_equals_enumeration(size, keep, inserted):
    alphabet = 9 + inserted
    operator = TransactionOperator.uniform([size], keep, alphabet, inserted)
    for length in range(1, 5):
        matrix, patterns = transition(operator, size, length), pattern_transition(operator, size, length)
        for held in range(min(size, length) + 1):
            expected = refilled(size, held, length, keep, alphabet, inserted)
            np.testing.assert_allclose(patterns[:, (1 << held) - 1], expected, atol=1e-13)
            np.testing.assert_allclose(matrix[:, held], overlaps(expected, length), atol=1e-13)


def test_none_is_the_identity():
    operator = TransactionOperator.none([4], 9)
    np.testing.assert_allclose(transition(operator, 4, 3), np.eye(4), atol=1e-14)
    np.testing.assert_allclose(weights(operator, 4, 3), [0, 0, 0, 1], atol=1e-14)
    np.testing.assert_allclose(noise(operator, 4, 3), 0, atol=1e-14)


def test_patterns_add_up_to_overlaps_and_to_one():
    operator = TransactionOperator.select_a_size({6: np.array([1, 2, 3, 4, 3, 2, 1]) / 16}, {6: 0.15}, 40)
    patterns = pattern_transition(operator, 6, 4)
    np.testing.assert_allclose(patterns.sum(axis=0), 1)
    for u in (0, 5, 7, 15):
        np.testing.assert_allclose(overlaps(patterns[:, u], 4), transition(operator, 6, 4)[:, u.bit_count()])


@pytest.mark.parametrize("length", range(1, 9))
def test_weights_have_a_product_form(length):
    """E of the product of (x - rho) over A is 0 unless A is in t: so that, scaled, is the estimate."""
    rho, size = 0.3, 9
    law = np.arange(1.0, 11) / 55
    operator = TransactionOperator.select_a_size({size: law}, {size: rho}, 60)
    chance = [sum(p * comb(j, i) for j, p in enumerate(law)) / comb(size, i) for i in range(length + 1)]
    scale = sum(comb(length, i) * (-rho) ** (length - i) * chance[i] for i in range(length + 1))
    overlap = np.arange(length + 1)
    expected = (1 - rho) ** overlap * (-rho) ** (length - overlap) / scale
    np.testing.assert_allclose(weights(operator, size, length), expected, rtol=1e-7)


def test_recovery_undoes_what_can_occur():
    operator = TransactionOperator.cut_and_paste({2: 3, 7: 5}, {2: 0.1, 7: 0.4}, 50)
    np.testing.assert_allclose(recovery(operator, 7, 4) @ transition(operator, 7, 4), np.eye(5), atol=1e-9)
    np.testing.assert_allclose(
        recovery(operator, 2, 4) @ transition(operator, 2, 4), np.diag([1.0, 1, 1, 0, 0]), atol=1e-9
    )
    assert not weights(operator, 2, 4).any()


def test_noise_is_the_variance_of_the_weights():
    operator = TransactionOperator.cut_and_paste({5: 3}, {5: 0.2}, 100)
    applied, matrix = weights(operator, 5, 3), transition(operator, 5, 3)
    for overlap in range(4):
        mean = applied @ matrix[:, overlap]
        assert mean == pytest.approx(float(overlap == 3), abs=1e-12)
        variance = (applied - mean) ** 2 @ matrix[:, overlap]
        assert noise(operator, 5, 3)[overlap] == pytest.approx(variance)


def test_items_that_must_be_in_a_transaction():
    """Of 10 items a transaction of 5 holds 1 of any 6 at least."""
    operator = TransactionOperator.uniform([5], 0.4, 10)
    assert occurring(operator, 5, 6).tolist() == [False, True, True, True, True, True, False]
    assert not transition(operator, 5, 6)[:, [0, 6]].any()


@pytest.mark.parametrize("cutoff", [0, 1, 2])
def test_cutoff_below_the_itemset(cutoff):
    operator = TransactionOperator.cut_and_paste({5: cutoff}, {5: 0.2}, 100)
    with pytest.raises(PluginError, match=r"PPF869: supports of 3 items cannot be recovered .* of 5") as caught:
        weights(operator, 5, 3)
    assert f"the cutoff is {cutoff}" in caught.value.diagnostics[0].notes[0]


def test_singular_for_other_reasons():
    """Items come through with probability 0.3, whether t holds them or not."""
    law = [0.7, 0.3]
    with pytest.raises(PluginError, match="PPF869") as caught:
        recovery(TransactionOperator.select_a_size({1: law}, {1: 0.3}, 9), 1, 1)
    assert "hardly more often" in caught.value.diagnostics[0].notes[0]
    with pytest.raises(PluginError, match="PPF869"):
        recovery(TransactionOperator.cut_and_paste({4: 4}, {4: 1 - 1e-13}, 9), 4, 1)


def test_bad_requests():
    operator = TransactionOperator.cut_and_paste({5: 3}, {5: 0.2}, 100)
    with pytest.raises(DataError, match="PPF777"):
        weights(operator, 2, 3)
    with pytest.raises(ValueError, match="one item"):
        transition(operator, 5, 0)
