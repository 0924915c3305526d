"""The operator's inverse in O(m) against matrices, and the errors of what it estimates against their definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow.mining.reconstruction.estimate import project, reconstruct_counts, slopes, variances
from ppdm_flow.mining.reconstruction.likelihood import RetentionChannel

GOLDEN = np.array([0, 1 / 3, 1 / 3, 1 / 3])


@st.composite
def operators(draw, least=1):
    """Retention probabilities with none, one or several zeros, in any place; and a table."""
    m = draw(st.integers(least, 9))
    kept = draw(st.lists(st.floats(0.02, 1.0), min_size=m, max_size=m))
    zeros = draw(st.sets(st.integers(0, m - 1), max_size=m))
    counts = draw(st.lists(st.integers(0, 400), min_size=m, max_size=m))
    return np.array([0.0 if i in zeros else p for i, p in enumerate(kept)]), np.array(counts, dtype=float)


@given(operators())
def test_the_inverse_is_the_pseudo_inverse(dense, case):
    kept, counts = case
    channel, twin = RetentionChannel.of(kept), dense(kept)
    assert channel.forward(counts) == pytest.approx(twin.matrix @ counts, rel=1e-12, abs=1e-9)
    assert channel.backward(counts) == pytest.approx(twin.matrix.T @ counts, rel=1e-12, abs=1e-9)
    assert channel.solve(counts) == pytest.approx(twin.inverse @ counts, rel=1e-8, abs=1e-6)


@given(operators(), st.data())
def test_rows_of_counts_are_solved_each_by_itself(dense, case, data):
    kept, first = case
    second = np.array(data.draw(st.lists(st.integers(0, 50), min_size=len(kept), max_size=len(kept))), dtype=float)
    channel = RetentionChannel.of(kept)
    both = np.stack([first, second])
    assert channel.solve(both) == pytest.approx(np.stack([channel.solve(first), channel.solve(second)]))
    assert variances(channel, both) == pytest.approx(np.stack([variances(channel, first), variances(channel, second)]))


@given(operators())
def test_expected_counts_give_the_table_back(case):
    """No bias: A P n = n, but for values that cannot be told apart, whose sum comes back."""
    kept, counts = case
    channel = RetentionChannel.of(kept)
    found = channel.solve(channel.forward(counts))
    wanted = counts.copy()
    wanted[channel.rest] = counts[channel.rest].mean()
    assert found == pytest.approx(wanted if len(channel.alike) else counts, rel=1e-8, abs=1e-6)
    assert (len(channel.alike) > 0) == ((kept == 0).sum() > 1)


def test_one_value_without_retention_is_still_estimable(dense):
    """GOLDEN's optimal operator: p(SARS) = 0, det P = (1/4)(1/3)^3, and the inverse exists."""
    twin = dense(GOLDEN)
    assert np.linalg.det(twin.matrix) == pytest.approx(1 / 4 / 27)
    counts = np.array([10.0, 20, 30, 40])
    assert RetentionChannel.of(GOLDEN).solve(twin.matrix @ counts) == pytest.approx(counts)
    assert len(RetentionChannel.of(GOLDEN).alike) == 0


@given(operators())
def test_variances_are_those_of_the_definition(dense, case):
    kept, counts = case
    channel, twin = RetentionChannel.of(kept), dense(kept)
    wanted = twin.covariance(counts)
    scale = 1 + np.abs(wanted).max()
    diagonal = np.diag(wanted).copy()
    together = np.isin(np.arange(len(kept)), channel.rest).astype(float)
    if len(channel.alike):
        diagonal[channel.rest] = together @ wanted @ together
    assert variances(channel, counts) / scale == pytest.approx(diagonal / scale, abs=1e-8)


@given(operators(least=2))
def test_slopes_are_those_along_the_covariance(dense, case):
    kept, counts = case
    counts = counts + 1.0
    channel, twin = RetentionChannel.of(kept), dense(kept)
    whole = twin.covariance(counts)
    for j in range(len(kept)):
        chosen = np.isin(np.arange(len(kept)), channel.rest if j in channel.rest else [j]).astype(float)
        spread = chosen @ whole @ chosen
        if spread < 1e-6 * counts.sum():
            continue
        moved = chosen @ twin.covariance(whole @ chosen) @ chosen  # linear in the counts: any vector may stand there
        assert slopes(channel, counts)[j] == pytest.approx(moved / spread, rel=1e-5, abs=1e-4)


def plain_projection(values, total, spread):
    """Bisection on the multiplier, with a loop."""
    low, high = -1e9, 1e9
    for _ in range(200):
        middle = (low + high) / 2
        if sum(max(0.0, v - middle * s) for v, s in zip(values, spread, strict=True)) > total:
            low = middle
        else:
            high = middle
    return [max(0.0, v - low * s) for v, s in zip(values, spread, strict=True)]


@given(st.lists(st.tuples(st.floats(-100, 100), st.floats(0.1, 50)), min_size=1, max_size=12), st.floats(0.5, 500))
def test_projection_is_the_nearest_possible(pairs, total):
    values, spread = (np.array(column) for column in zip(*pairs, strict=True))
    found = project(values, np.array(total), spread)
    assert found == pytest.approx(plain_projection(values, total, spread), rel=1e-6, abs=1e-6)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(total)
    plain = project(values, np.array(total))
    assert plain == pytest.approx(plain_projection(values, total, np.ones(len(values))), rel=1e-6, abs=1e-6)


def test_projection_of_nothing_is_nothing():
    assert project(np.array([[-1.0, 1.0], [3.0, -1.0]]), np.array([0.0, 2.0])).tolist() == [[0, 0], [2, 0]]


@given(operators(), st.sampled_from(["inverse", "em"]))
def test_estimates_are_possible_and_lie_in_their_intervals(case, method):
    kept, released = case
    channel = RetentionChannel.of(kept)
    found = reconstruct_counts(channel, released, method)
    assert found.estimate.min() >= 0
    assert found.estimate.sum() == pytest.approx(released.sum(), rel=1e-9, abs=1e-9)
    single = ~np.isin(np.arange(len(kept)), found.alike)
    assert np.all(found.low >= 0)
    assert np.all(found.high <= released.sum())
    assert np.all((found.low <= found.estimate + 1e-7) & (found.estimate <= found.high + 1e-7))
    assert np.all(np.isnan(found.error) == ~single)
    if found.together is not None:
        assert found.together.low <= found.together.estimate + 1e-7 <= found.together.high + 2e-7
        assert np.all(found.high[found.alike] == found.together.high)
        assert np.all(found.low[found.alike] == 0)


def test_a_column_that_was_not_perturbed_is_known_exactly():
    found = reconstruct_counts(RetentionChannel.of(np.ones(4)), [5, 0, 3, 92])
    assert found.estimate.tolist() == [5, 0, 3, 92]
    assert found.error.tolist() == [0, 0, 0, 0]
    assert found.low.tolist() == found.high.tolist() == [5, 0, 3, 92]


def test_values_that_cannot_be_told_apart_are_said():
    kept, counts = np.array([0.0, 0.5, 0.0]), np.array([30.0, 60, 10])
    found = reconstruct_counts(RetentionChannel.of(kept), RetentionChannel.of(kept).forward(counts))
    assert found.alike.tolist() == [0, 2]
    assert found.estimate == pytest.approx([20, 60, 20])
    assert found.together is not None
    assert found.together.unbiased == pytest.approx(40)
    nothing = reconstruct_counts(RetentionChannel.of(np.zeros(3)), [10, 20, 30])
    assert nothing.alike.tolist() == [0, 1, 2]
    assert (nothing.together.estimate, nothing.together.low, nothing.together.high) == (60, 60, 60)
    assert nothing.low.tolist() == [0, 0, 0]
    assert nothing.high.tolist() == [60, 60, 60]


@pytest.mark.parametrize("kept", [[], [[0.5]], [1.1], [-0.1, 0.5], [float("nan")]])
def test_what_is_no_operator_is_refused(kept):
    with pytest.raises(ValueError, match="retention"):
        RetentionChannel.of(kept)


@pytest.mark.parametrize("released", [[1, 2], [1, 2, -1], [1, 2, float("nan")], [1, float("inf"), 2]])
def test_what_are_no_counts_is_refused(released):
    with pytest.raises(ValueError, match="released counts"):
        reconstruct_counts(RetentionChannel.of([0.5, 0.5, 0.2]), released)


@pytest.mark.parametrize("level", [0, 1, 95, float("nan")])
def test_what_is_no_level_is_refused(level):
    with pytest.raises(ValueError, match="level"):
        reconstruct_counts(RetentionChannel.of([0.5, 0.5]), [1, 2], level=level)


def test_a_wider_level_is_wider():
    narrow, wide = (
        reconstruct_counts(RetentionChannel.of([0.5, 0.4, 0.3]), [50, 60, 70], level=s) for s in (0.5, 0.99)
    )
    assert np.all(wide.low < narrow.low)
    assert np.all(wide.high > narrow.high)


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("method", ["inverse", "em"])
def test_a_hundred_thousand_values_take_no_matrix(method):
    rng = np.random.default_rng(5)
    kept, released = rng.random(100_000), rng.integers(0, 30, 100_000)
    found = reconstruct_counts(RetentionChannel.of(kept), released, method)
    assert found.estimate.sum() == pytest.approx(released.sum())  # a matrix of 80 GB could not even be had
