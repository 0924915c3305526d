"""The hardest itemsets: vertices, programs and brute force."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.mining.transactions.breaches import Event, by_item, exchangeable, level, likelihoods
from ppdm_flow.mining.transactions.hardest import by_program, hardest, polytope, privacy_challenging
from ppdm_flow.mining.transactions.operators import TransactionOperator

OPERATOR = TransactionOperator.cut_and_paste({1: 4, 2: 4, 5: 4, 7: 12}, {1: 0.2, 2: 0.2, 5: 0.2, 7: 0.4}, 200)
MAXIMA = st.lists(st.floats(0.0005, 0.6), min_size=1, max_size=4).map(lambda s: tuple(sorted(s, reverse=True)))


def test_golden_privacy_challenging():
    """S = (0.2, 0.15, 0.05) gives s_1 = -0.15: no such itemset."""
    assert privacy_challenging((0.2, 0.15, 0.05), 3) is None
    found = privacy_challenging((0.05, 0.01, 0.002), 3)
    np.testing.assert_allclose(found, [1 - 0.096 - 0.024 - 0.002, 3 * 0.032, 3 * 0.008, 0.002])
    np.testing.assert_allclose(found @ np.arange(4) / 3, 0.05)
    np.testing.assert_allclose(privacy_challenging((0.05, 0.01, 0.002), 3, size=2), [1 - 0.09 - 0.03, 0.09, 0.03, 0])


@examples(12)
@given(MAXIMA, st.integers(1, 3), st.sampled_from([1, 2, 5, 7]), st.booleans(), st.sampled_from(list(Event)))
def test_vertices_equal_the_program(maxima, length, size, inside, event):
    likelihood = likelihoods(OPERATOR, size, length, event)
    listed = hardest(maxima, length, size, likelihood, inside=inside)
    solved = by_program(polytope(maxima, length, size, inside=inside), likelihood)
    assert listed[0] == pytest.approx(solved[0], abs=1e-7)
    supports, with_item = listed[1:]
    assert supports.sum() == pytest.approx(1)
    assert (with_item <= supports + 1e-12).all()
    assert not supports[size + 1 :].any()
    assert level(likelihood, supports, with_item) == pytest.approx(listed[0])


@examples(12)
@given(MAXIMA, st.integers(1, 3), st.sampled_from([2, 5, 7]))
def test_not_below_the_privacy_challenging(maxima, length, size):
    alike = privacy_challenging(maxima, length, size)
    if alike is not None:
        likelihood = likelihoods(OPERATOR, size, length)
        paper = float(level(likelihood, alike, exchangeable(alike)))
        worst = hardest(maxima, length, size, likelihood)[0]
        assert paper <= worst + 1e-9
        if length == 1:
            assert paper == pytest.approx(worst)


def allowed(patterns, maxima, length):
    """Return which shares of patterns have all supports within their maxima."""
    index = np.arange(1 << length)
    fits = np.ones(len(patterns), dtype=bool)
    for items in range(1, length + 1):
        for chosen in combinations(range(length), items):
            mask = sum(1 << i for i in chosen)
            fits &= patterns[:, index & mask == mask].sum(axis=1) <= maxima[items - 1] + 1e-12
    return patterns[fits]


@pytest.mark.parametrize("maxima", [(0.2, 0.15, 0.05), (0.3, 0.06, 0.02), (0.25, 0.25, 0.2)])
def test_grid_of_pairs(maxima):
    """All shares of {z, y}, {z}, {y} in steps of 1/200."""
    grid = np.stack(np.meshgrid(*[np.arange(61)] * 3, indexing="ij"), axis=-1).reshape(-1, 3) / 200
    patterns = np.column_stack((1 - grid.sum(axis=1), grid))  # z is bit 0
    supports, with_item = by_item(allowed(patterns, maxima, 2))
    likelihood = likelihoods(OPERATOR, 5, 2)
    best = float(level(likelihood, supports, with_item[:, 0]).max())
    assert best == pytest.approx(hardest(maxima, 2, 5, likelihood)[0], abs=1e-9)


@pytest.mark.parametrize("maxima", [(0.2, 0.15, 0.05, 0.05), (0.3, 0.1, 0.03, 0.01)])
@pytest.mark.parametrize("inside", [True, False])
@pytest.mark.parametrize("event", list(Event))
def test_nothing_random_is_harder(maxima, inside, event):
    """Shares of all patterns of {z, 1, 2} in A, or of z and A = {1, 2}: not averaged over the others."""
    rng = np.random.default_rng(6)
    patterns = rng.dirichlet([4, *[0.15] * 7], size=40_000)
    patterns = allowed(patterns, maxima, 3)
    assert len(patterns) > 300
    length = 3 if inside else 2
    likelihood = likelihoods(OPERATOR, 5, length, event)
    index = np.arange(8)
    overlap = np.bitwise_count(index if inside else index >> 1)
    hit, every = patterns[:, index & 1 == 1] @ likelihood[overlap[index & 1 == 1]], patterns @ likelihood[overlap]
    worst = hardest(maxima, length, 5, likelihood, inside=inside)[0]
    assert (hit / every).max() <= worst + 1e-9


def test_long_itemsets_by_the_program():
    found = hardest((0.1, 0.05, 0.02, 0.01, 0.005), 5, 7, likelihoods(OPERATOR, 7, 5))
    shorter = hardest((0.1, 0.05, 0.02, 0.01, 0.005), 4, 7, likelihoods(OPERATOR, 7, 4))
    assert shorter[0] < found[0] < 1
    assert found[1].shape == (6,)


def test_nothing_is_safe_without_randomization():
    """Where only baskets that hold the itemset show it, the item is certain."""
    likelihood = likelihoods(TransactionOperator.none([5], 200), 5, 2)
    assert hardest((0.1, 0.05), 2, 5, likelihood)[0] == pytest.approx(1)
    assert by_program(polytope((0.1, 0.05), 2, 5, inside=True), likelihood)[0] == pytest.approx(1)


@pytest.mark.parametrize("maxima", [(), (0.0,), (1.1,), (0.1, 0.2), (float("nan"),), (-0.1,)])
def test_bad_maxima(maxima):
    with pytest.raises(ValueError, match="maximal support"):
        hardest(maxima, 1, 5, likelihoods(OPERATOR, 5, 1))


def test_an_event_that_never_happens():
    with pytest.raises(ValueError, match="not those of an event"):
        by_program(polytope((0.1,), 1, 5, inside=True), np.zeros(2))


@pytest.mark.parametrize("rho", [1e-6, 0.01, 0.2])
@pytest.mark.parametrize("inside", [True, False])
def test_programs_of_weak_operators_have_the_value_of_their_vertices(rho: float, inside: bool) -> None:
    """Likelihoods that differ by 18 orders of magnitude: what is released is the original set, nearly surely."""
    operator = TransactionOperator.select_a_size({3: [0.5, 0.0, 0.0, 0.5]}, {3: rho}, 24)
    for length in (1, 2, 3):
        chances = likelihoods(operator, 3, length)
        program = by_program(polytope((0.3, 0.12, 0.1), length, 3, inside=inside), chances)[0]
        assert program == pytest.approx(hardest((0.3, 0.12, 0.1), length, 3, chances, inside=inside)[0], abs=1e-7)
