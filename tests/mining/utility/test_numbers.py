"""Losses of numbers against plain loops, scipy and numpy."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from tiers import examples

from ppdm_flow.mining.utility.numbers import (
    QUANTILES,
    NumericCells,
    column_losses,
    distances,
    eigenvalue_change,
    il1s,
    mean_and_deviation,
    quantiles,
    relations,
)

numbers = st.integers(-5, 5).map(float) | st.floats(-10, 10, allow_nan=False).map(lambda v: round(v, 2))
samples = st.lists(st.tuples(numbers, st.integers(1, 3)), min_size=1, max_size=12)


def cdf(sample, at):
    total = sum(w for _, w in sample)
    return sum(w for v, w in sample if v <= at) / total


def split(sample):
    return np.array([v for v, _ in sample]), np.array([float(w) for _, w in sample])


@examples(45)
@given(samples, samples)
def test_distances(one, other):
    farthest, area = distances(*split(one), *split(other))
    points = sorted({v for v, _ in one + other})
    assert farthest == pytest.approx(max(abs(cdf(one, p) - cdf(other, p)) for p in points), abs=1e-9)
    slow = sum(abs(cdf(one, a) - cdf(other, a)) * (b - a) for a, b in pairwise(points))
    assert area == pytest.approx(slow, abs=1e-9)
    (x, of_x), (y, of_y) = split(one), split(other)
    assert area == pytest.approx(stats.wasserstein_distance(x, y, of_x, of_y), abs=1e-9)


def test_kolmogorov_smirnov_as_scipy_has_it():
    rng = np.random.default_rng(3)
    x, y = rng.integers(0, 20, 300).astype(float), rng.integers(2, 25, 200).astype(float)
    farthest, _ = distances(x, np.ones(300), y, np.ones(200))
    assert farthest == pytest.approx(stats.ks_2samp(x, y).statistic)


@examples(45)
@given(samples)
def test_moments_and_quantiles(sample):
    values, weights = split(sample)
    repeated = np.repeat(values, weights.astype(int))
    mean, spread = mean_and_deviation(values, weights)
    assert mean == pytest.approx(repeated.mean(), abs=1e-9)
    if len(repeated) > 1:
        assert spread == pytest.approx(repeated.std(ddof=1), abs=1e-9)
    found = quantiles(values, weights)
    ordered = sorted(repeated.tolist())
    slow = [ordered[max(0, math.ceil(q * len(ordered) - 1e-9) - 1)] for q in QUANTILES]
    assert found.tolist() == slow


cells = st.one_of(st.none(), st.integers(-4, 4).map(float))
tables = st.lists(st.tuples(cells, cells, cells, st.integers(1, 3)), min_size=2, max_size=10)


@examples(45)
@given(tables)
def test_relations(rows):
    values = np.array([[math.nan if v is None else v for v in row[:3]] for row in rows])
    found = relations(NumericCells(values, np.array([float(r[3]) for r in rows])))
    for i in range(3):
        for j in range(3):
            both = [(r[i], r[j]) for r in rows if r[i] is not None and r[j] is not None for _ in range(r[3])]
            if len(both) < 2:
                assert math.isnan(found.covariance[i, j])
                continue
            means = [sum(pair[k] for pair in both) / len(both) for k in (0, 1)]
            product = sum((a - means[0]) * (b - means[1]) for a, b in both)
            squares = [sum((pair[k] - means[k]) ** 2 for pair in both) for k in (0, 1)]
            assert found.covariance[i, j] == pytest.approx(product / (len(both) - 1), abs=1e-9)
            if min(squares) < 1e-9:
                assert math.isnan(found.correlation[i, j])
            else:
                assert found.correlation[i, j] == pytest.approx(product / math.sqrt(squares[0] * squares[1]), abs=1e-9)


def test_relations_as_numpy_has_them():
    rng = np.random.default_rng(0)
    values = rng.normal(1e6, 1, (500, 4)) @ rng.normal(size=(4, 4))
    found = relations(NumericCells(values, np.ones(500)))
    assert found.covariance == pytest.approx(np.cov(values.T), rel=1e-9)
    assert found.correlation == pytest.approx(np.corrcoef(values.T), rel=1e-9)


@examples(30)
@given(tables, st.lists(cells, min_size=30, max_size=30))
def test_il1s(rows, moved):
    before = np.array([[math.nan if v is None else v for v in row[:3]] for row in rows])
    after = np.array([math.nan if v is None else v for v in moved]).reshape(10, 3)[: len(rows)]
    weights = np.array([float(r[3]) for r in rows])
    found = il1s(before, after, weights, np.array([1.0, 2.0, 0.5]))
    for j, spread in enumerate((1.0, 2.0, 0.5)):
        total = seen = 0.0
        for x, y, w in zip(before[:, j], after[:, j], weights, strict=True):
            if not math.isnan(x) and not math.isnan(y):
                total += w * abs(x - y) / (math.sqrt(2) * spread)
                seen += w
        assert math.isnan(found[j]) if not seen else found[j] == pytest.approx(total / seen)


def test_shift_and_scale_have_closed_forms():
    rng = np.random.default_rng(1)
    values = rng.normal(size=(400, 2))
    before, weights = NumericCells(values, np.ones(400)), np.ones(400)
    spread = values.std(axis=0, ddof=1)
    shifted = column_losses(before, NumericCells(values + 3 * spread, weights), spread)
    for figure in (shifted.mean, shifted.quantile, shifted.wasserstein):
        assert figure == pytest.approx([3.0, 3.0])
    assert shifted.variance == pytest.approx([0, 0], abs=1e-9)
    assert il1s(values, values + 3 * spread, weights, spread) == pytest.approx([3 / math.sqrt(2)] * 2)
    doubled = NumericCells(2 * values, weights)
    assert column_losses(before, doubled, spread).variance == pytest.approx([3.0, 3.0])
    one, other = relations(before), relations(doubled)
    assert other.correlation == pytest.approx(one.correlation)
    assert other.covariance == pytest.approx(4 * one.covariance)
    assert eigenvalue_change(one.correlation, other.correlation) == pytest.approx(0, abs=1e-9)


def test_eigenvalues_of_two_columns():
    """Those of [[1, r], [r, 1]] are 1 - r and 1 + r."""
    one, other = np.array([[1, 0.5], [0.5, 1]]), np.eye(2)
    assert eigenvalue_change(one, other) == pytest.approx(1.0)
    assert math.isnan(eigenvalue_change(np.eye(1), np.eye(1)))


def test_nothing_is_no_number():
    empty, weights = np.zeros((0, 1)), np.zeros(0)
    losses = column_losses(NumericCells(empty, weights), NumericCells(np.ones((2, 1)), np.ones(2)), np.array([np.nan]))
    assert np.isnan(losses.wasserstein).all()
    assert losses.missing == pytest.approx([0])


def test_huge_numbers_have_correlations():
    cells = np.array([[1e150, 2e150], [2e150, 4e150], [4e150, 8e150]])
    found = relations(NumericCells(cells, np.ones(3)))
    assert found.correlation == pytest.approx(np.ones((2, 2)))
