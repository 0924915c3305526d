"""Sums without rounding, and moments made of them: the same in any order and any parts."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow.mining.moments import ExactSum, mean_of, moments

DOUBLES = st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=50)


@given(DOUBLES, st.integers(0, 50))
def test_sums_of_doubles_are_exact(numbers, cut):
    total = ExactSum()
    for part in (numbers[cut:], numbers[:cut]):
        total.add(np.array(part, dtype=np.float64))
    assert total.value == sum((Fraction(x) for x in numbers), Fraction(0))


@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=50))
def test_sums_of_integers_are_exact(numbers):
    total = ExactSum()
    total.add(np.array(numbers, dtype=np.int64))
    assert total.value == sum(numbers)


def test_what_is_not_finite_is_refused():
    with pytest.raises(ValueError, match="finite"):
        ExactSum().add(np.array([1.0, np.inf]))


@pytest.mark.slow
def test_many_rows():
    numbers = np.random.default_rng(1).standard_normal(200_000) * 10.0 ** np.random.default_rng(2).integers(
        -5, 9, 200_000
    )
    total = ExactSum()
    total.add(numbers)
    assert total.value == sum(map(Fraction, numbers.tolist()), Fraction(0))


NUMBERS = st.floats(-1e6, 1e6, allow_subnormal=False)


@given(st.lists(st.tuples(NUMBERS, NUMBERS, st.integers(0, 5)), max_size=30), st.lists(st.integers(0, 30), max_size=3))
def test_moments_against_fractions(rows, cuts):
    table = np.array([(x, y) for x, y, _ in rows], dtype=np.float64).reshape(-1, 2)
    weights = np.array([w for _, _, w in rows], dtype=np.int64)
    edges = sorted({0, len(rows), *(c for c in cuts if c < len(rows))})
    spans = list(pairwise(edges)) or [(0, 0)]
    whole = moments(lambda: [((table[:, 0], table[:, 1]), weights)], 2)
    cut = moments(lambda: [((table[a:b, 0], table[a:b, 1]), weights[a:b]) for a, b in spans], 2)
    assert whole.means.tolist() == cut.means.tolist()
    assert whole.covariance.tolist() == cut.covariance.tolist()
    n = int(weights.sum())
    assert whole.rows == n
    if n < 2:
        assert not whole.covariance.any()
        return
    every = [(Fraction(x), Fraction(y), w) for (x, y), w in zip(table.tolist(), weights.tolist(), strict=True)]
    means = [sum(row[j] * row[2] for row in every) / n for j in range(2)]
    for i in range(2):
        for j in range(2):
            expected = sum((row[i] - means[i]) * (row[j] - means[j]) * row[2] for row in every) / (n - 1)
            size = sum(abs(row[i] - means[i]) * abs(row[j] - means[j]) * row[2] for row in every) / (n - 1)
            assert abs(whole.covariance[i, j] - float(expected)) <= 1e-12 * float(size) + 1e-15
    assert mean_of([(table[:, 0], weights)]) == whole.means[0]


def test_a_far_mean_takes_no_digits():
    numbers = 1e15 + np.array([0.0, 1.0, 2.0])
    found = moments(lambda: [((numbers,), None)], 1)
    assert found.means[0] == 1e15 + 1
    assert found.covariance[0, 0] == 1.0
