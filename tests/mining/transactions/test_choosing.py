"""Chosen parameters keep the level, with nothing to spare, and no other cutoff does better."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ppdm_flow.core.errors import PluginError
from ppdm_flow.mining.transactions.breaches import exchangeable, level, likelihoods
from ppdm_flow.mining.transactions.choosing import Challenge, CutAndPasteCandidates, choose, choose_size
from ppdm_flow.mining.transactions.curves import Setting, over_levels, over_numbers, over_sizes
from ppdm_flow.mining.transactions.discoverable import crowded, lowest_support, lowest_supports
from ppdm_flow.mining.transactions.estimates import expected_sigma
from ppdm_flow.mining.transactions.hardest import hardest, privacy_challenging
from ppdm_flow.mining.transactions.operators import TransactionOperator, noise

MAXIMA = (0.05, 0.01, 0.002)


@pytest.mark.parametrize("size", [1, 2, 5, 9])
@pytest.mark.parametrize("length", [1, 2, 3, 4])
def test_fast_forms_equal_the_matrices(size, length):
    cutoffs, rho = (length, 5, 30), np.array([0.02, 0.3, 0.8])
    seen = CutAndPasteCandidates.of(size, length, cutoffs)
    for i, (cutoff, insertion) in enumerate(zip(cutoffs, rho, strict=True)):
        operator = TransactionOperator.cut_and_paste({size: cutoff}, {size: insertion}, 100)
        top = min(size, length) + 1
        np.testing.assert_allclose(seen.likelihoods(rho)[i, :top], likelihoods(operator, size, length)[:top])
        np.testing.assert_allclose(seen.noise(rho)[i], noise(operator, size, length), rtol=1e-6, atol=1e-9)
    assert length > size or np.isinf(CutAndPasteCandidates.of(size, length, (0,)).noise(rho[:1])).any()


def breach(operator, size, lengths, maxima, challenge):
    if challenge is Challenge.PAPER:
        alike = {k: privacy_challenging(maxima, k, size) for k in lengths}
        return max(
            float(level(likelihoods(operator, size, k), alike[k], exchangeable(alike[k])))
            if alike[k] is not None
            else hardest(maxima, k, size, likelihoods(operator, size, k))[0]
            for k in lengths
        )
    return max(
        hardest(maxima, k, size, likelihoods(operator, size, k), inside=side)[0]
        for k in lengths
        for side in (True, False)
    )


@pytest.mark.slow(quick=9)
@pytest.mark.parametrize("maxima", [MAXIMA, (0.2, 0.15, 0.05), (0.04, 0.02, 0.01)])
@pytest.mark.parametrize("size", [1, 2, 3, 5, 10, 40])
@pytest.mark.parametrize("challenge", list(Challenge))
def test_level_is_kept_and_no_smaller_insertion_keeps_it(maxima, size, challenge):
    choice = choose_size(maxima, size, 5e6, 0.5, challenge=challenge, digits=None)

    def reached(insertion):
        operator = TransactionOperator.cut_and_paste({size: choice.cutoff}, {size: insertion}, 1000)
        return breach(operator, size, (1, 2, 3), maxima, challenge)

    assert 0.4999 < reached(choice.insertion) <= 0.5 + 1e-9
    assert max(choice.levels.values()) == pytest.approx(reached(choice.insertion))
    assert reached(choice.insertion * 0.995) > 0.5
    for insertion in np.linspace(choice.insertion, 0.99, 7):
        assert reached(insertion) <= 0.5 + 1e-9


@pytest.mark.parametrize("size", [1, 2, 5, 10])
@pytest.mark.parametrize("digits", [3, 6])
def test_rounding_is_to_the_safe_side(size, digits):
    exact = choose_size(MAXIMA, size, 5e6, 0.5, digits=None, cutoff=10)
    rounded = choose_size(MAXIMA, size, 5e6, 0.5, digits=digits, cutoff=10)
    whole = rounded.insertion * 2.0 ** (digits - 1 - math.floor(math.log2(rounded.insertion)))
    assert whole == int(whole) < 2**digits
    assert rounded.cutoff != exact.cutoff or exact.insertion <= rounded.insertion
    operator = TransactionOperator.cut_and_paste({size: rounded.cutoff}, {size: rounded.insertion}, 1000)
    assert max(rounded.levels.values()) <= 0.5
    assert max(rounded.levels.values()) == pytest.approx(breach(operator, size, (1, 2, 3), MAXIMA, Challenge.WORST))


@pytest.mark.slow
def test_no_other_cutoff_is_better():
    choice = choose_size(MAXIMA, 4, 5e6, 0.5, (1, 2), cutoff=12, digits=None)
    worst = max(choice.discoverable.values())
    for cutoff in range(2, 13):
        low, high = 1e-6, 0.999
        for _ in range(30):
            middle = (low + high) / 2
            operator = TransactionOperator.cut_and_paste({4: cutoff}, {4: middle}, 1000)
            kept = breach(operator, 4, (1, 2), MAXIMA, Challenge.WORST) <= 0.5
            low, high = (low, middle) if kept else (middle, high)
        operator = TransactionOperator.cut_and_paste({4: cutoff}, {4: high}, 1000)
        other = max(lowest_supports(operator, {4: 5e6}, (1, 2), MAXIMA).values())
        assert worst <= other * (1 + 1e-6)
        if cutoff == choice.cutoff:
            assert worst == pytest.approx(other, rel=1e-4)
    assert choice.cutoff <= 12


def test_mixture():
    numbers = {0: 5e4, 1: 2e5, 3: 3e5, 6: 4e5}
    chosen = choose(MAXIMA, numbers, 500, level=0.5)
    assert chosen.operator.sizes == (0, 1, 3, 6)
    assert chosen.operator.cutoffs[0] == chosen.operator.cutoffs[1]
    for size in (1, 3, 6):
        assert breach(chosen.operator, size, (1, 2, 3), MAXIMA, Challenge.WORST) <= 0.5 + 1e-9
    for length, support in chosen.discoverable.items():
        large = {m: n for m, n in numbers.items() if m >= length}
        within = support * sum(numbers.values()) / sum(large.values())
        partial = {m: crowded(within, length, MAXIMA) for m in large}
        sigma = float(expected_sigma(chosen.operator, partial, large)) * sum(large.values()) / sum(numbers.values())
        assert support == pytest.approx(4 * sigma, rel=1e-6)


def test_maxima_by_size():
    """Rare among all transactions, frequent among those of one size: the size decides."""
    numbers, maxima = {0: 10.0, 2: 1e5, 4: 2e5}, {2: (0.3, 0.2), 4: (0.05, 0.01)}
    chosen = choose(maxima, numbers, 500, level=0.5, lengths=(1, 2))
    assert chosen.operator.cutoffs[0] >= 1
    for size, held in maxima.items():
        alone = choose(held, {size: 3e5 + 10}, 500, level=0.5, lengths=(1, 2))
        assert alone.choices[size] == chosen.choices[size]
    assert chosen.choices[2].insertion > chosen.choices[4].insertion
    same = lowest_supports(chosen.operator, numbers, (1, 2), dict.fromkeys((2, 4), MAXIMA))
    assert same == pytest.approx(lowest_supports(chosen.operator, numbers, (1, 2), MAXIMA))
    with pytest.raises(ValueError, match="no maximal supports"):
        choose({2: (0.3, 0.2)}, numbers, 500, level=0.5)


def test_out_of_reach():
    with pytest.raises(PluginError, match=r"PPF773: .* 0\.25 .* in transactions of 5 items: .* is 0\.3"):
        choose_size((0.3, 0.2), 5, 1e6, 0.25)
    with pytest.raises(PluginError, match="PPF773"):
        choose((0.3, 0.2), {2: 10.0, 5: 10.0}, 50, level=0.3)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"level": 0.0}, "breach level"),
        ({"level": 1.0}, "breach level"),
        ({"level": float("nan")}, "breach level"),
        ({"lengths": ()}, "itemset sizes"),
        ({"lengths": (0,)}, "itemset sizes"),
        ({"lengths": (5,)}, "itemset sizes"),
        ({"number": 0}, "no transactions"),
        ({"maxima": (0.1, 0.2)}, "maximal support"),
        ({"cutoff": -1}, "largest cutoff"),
        ({"digits": 0}, "binary digits"),
    ],
)
def test_bad_requests(changes, words):
    with pytest.raises(ValueError, match=words):
        choose_size(**({"maxima": MAXIMA, "size": 3, "number": 1e6, "level": 0.5} | changes))


def test_crowded_partial_supports():
    np.testing.assert_allclose(crowded(0.002, 3, MAXIMA), privacy_challenging(MAXIMA, 3))
    np.testing.assert_allclose(crowded(0.1, 2), [0.9, 0, 0.1])
    for maxima in [(0.2, 0.15, 0.05), (0.9, 0.5, 0.4), (0.01,)]:
        for support in (0.0, 0.01, 0.04, 0.3, 1.0):
            found = crowded(support, 3, maxima)
            assert found.sum() == pytest.approx(1)
            assert found.min() >= -1e-12
            for items in (1, 2):
                share = [math.comb(hits, items) / math.comb(3, items) for hits in range(4)]
                limit = maxima[min(items, len(maxima)) - 1]
                assert found @ share <= max(limit, support) + 1e-12


@pytest.mark.parametrize("maxima", [None, MAXIMA])
@pytest.mark.parametrize("length", [1, 2, 3])
def test_lowest_support_is_four_sigma(maxima, length):
    operator = TransactionOperator.cut_and_paste({5: 6}, {5: 0.3}, 100)
    found = lowest_supports(operator, {5: 1e6}, (length,), maxima)[length]
    partial = {5: crowded(found, length, maxima)}
    assert found == pytest.approx(4 * float(expected_sigma(operator, partial, {5: 1e6})), rel=1e-6)
    assert maxima is None or found >= lowest_supports(operator, {5: 1e6}, (length,))[length]


def test_nothing_is_discoverable_in_few_transactions():
    operator = TransactionOperator.cut_and_paste({5: 6, 2: 6}, {5: 0.6, 2: 0.6}, 100)
    found = lowest_supports(operator, {5: 20, 2: 9}, (2, 6))
    assert found == {2: math.inf, 6: math.inf}
    assert np.isinf(lowest_support(np.array([[1.0, 1], [1e9, 1e9]]), 1e6)).tolist() == [False, True]


def test_supports_fall_with_the_root_of_the_number():
    setting = Setting(MAXIMA)
    curve = over_numbers(setting, [1e5, 4e5, 1.6e6, 6.4e6])
    for length in (1, 2, 3):
        ratios = curve.lowest[length][:-1] / curve.lowest[length][1:]
        np.testing.assert_allclose(ratios, 2, rtol=0.05)


def test_curves_of_the_talk():
    setting = Setting(MAXIMA)
    assert (setting.size, setting.number, setting.level) == (5, 5e6, 0.5)
    levels = over_levels(setting, [0.04, 0.1, 0.3, 0.5, 0.9])
    sizes = over_sizes(setting, [1, 2, 5, 10])
    for length in (1, 2, 3):
        along = levels.lowest[length]
        assert np.isinf(along[0])
        assert (np.diff(along[1:]) < 0).all()
        grown = sizes.lowest[length]
        assert np.isinf(grown[[m < length for m in (1, 2, 5, 10)]]).all()
        assert (np.diff(grown[np.isfinite(grown)]) > 0).all()
        here = choose_size(MAXIMA, 5, 5e6, 0.5).discoverable[length]
        assert here == along[3] == grown[2]
        assert 0.0001 < here < 0.002
    assert over_sizes(setting, []).lowest == {}
