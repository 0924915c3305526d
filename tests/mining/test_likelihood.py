"""Maximum likelihood: the paper's iteration, plain and accelerated, and the direct solution, against an optimizer."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from tiers import examples

from ppdm_flow.mining.reconstruction.estimate import reconstruct_counts
from ppdm_flow.mining.reconstruction.likelihood import TOLERANCE, RetentionChannel, iterate, maximum


@st.composite
def cases(draw):
    m = draw(st.integers(2, 7))
    kept = draw(st.lists(st.floats(0.05, 1.0), min_size=m, max_size=m))
    if draw(st.booleans()):
        kept[0] = 0.0
    if draw(st.booleans()):
        kept[-1] = 0.0
    released = draw(st.lists(st.integers(0, 60), min_size=m, max_size=m).filter(any))
    return np.array(kept), np.array(released, dtype=float)


def likelihood(matrix, counts, released):
    expected = matrix @ counts
    with np.errstate(divide="ignore"):
        return float(np.sum(np.where(released > 0, released * np.log(expected), 0.0)))


def optimum(matrix, released):
    """The greatest log-likelihood on the simplex, by SLSQP from several starts."""
    total, m = released.sum(), len(released)
    best = -np.inf
    for start in (np.full(m, 1 / m), (released + 1) / (total + m)):
        found = minimize(
            lambda f: -np.sum(released * np.log(np.maximum(matrix @ f, 1e-300))) / total,
            start,
            jac=lambda f: -matrix.T @ (released / np.maximum(matrix @ f, 1e-300)) / total,
            bounds=[(0, 1)] * m,
            constraints={"type": "eq", "fun": lambda f: f.sum() - 1, "jac": lambda f: np.ones(m)},
            method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 1000},
        )
        shares = np.maximum(found.x, 0)
        best = max(best, likelihood(matrix, total * shares / shares.sum(), released))
    return best


@examples(20)
@given(cases())
def test_all_three_reach_the_generic_optimum(dense, case):
    kept, released = case
    channel, matrix = RetentionChannel.of(kept), dense(kept).matrix
    wanted = optimum(matrix, released)
    direct = maximum(channel, released, channel.solve(released))
    iterated = iterate(channel, released)
    assert direct.min() >= 0
    assert direct.sum() == pytest.approx(released.sum())
    assert likelihood(matrix, direct, released) >= wanted - 1e-6
    assert likelihood(matrix, iterated.counts, released) >= wanted - max(1e-6, float(iterated.gap))
    assert likelihood(matrix, direct, released) <= likelihood(matrix, iterated.counts, released) + iterated.gap + 1e-9


@examples(20)
@given(cases())
def test_the_gap_bounds_what_is_left_to_gain(dense, case):
    kept, released = case
    channel, matrix = RetentionChannel.of(kept), dense(kept).matrix
    best = likelihood(matrix, maximum(channel, released, channel.solve(released)), released)
    for rounds in (0, 1, 7):
        found = iterate(channel, released, rounds=rounds, accelerated=False)
        assert best - likelihood(matrix, found.counts, released) <= found.gap + 1e-9
        assert found.rounds <= rounds
        assert found.converged == (found.gap <= TOLERANCE)


@examples(12)
@given(cases(), st.integers(1, 30))
def test_the_plain_iteration_is_the_papers(dense, case, rounds):
    """Agrawal and Aggarwal's update, written with the joint distribution."""
    kept, released = case
    matrix, m = dense(kept).matrix, len(kept)
    shares = np.full(m, 1 / m)
    for _ in range(rounds):
        joint = matrix * shares
        shares = (joint / joint.sum(axis=1, keepdims=True) * (released / released.sum())[:, None]).sum(axis=0)
    found = iterate(RetentionChannel.of(kept), released, rounds=rounds, tolerance=0.0, accelerated=False)
    assert found.counts == pytest.approx(released.sum() * shares, abs=1e-7 * released.sum())


@examples(12)
@given(cases())
def test_likelihood_never_falls(dense, case):
    kept, released = case
    matrix = dense(kept).matrix
    reached = [
        likelihood(matrix, iterate(RetentionChannel.of(kept), released, rounds=r, tolerance=0.0).counts, released)
        for r in (3, 6, 12, 24)
    ]
    assert np.all(np.diff(reached) >= -1e-9)


def test_no_negative_estimate_makes_the_inverse_the_maximum():
    channel = RetentionChannel.of([0.3, 0.5, 0.4])
    released = np.array([400.0, 350, 250])
    assert channel.solve(released).min() > 0
    assert maximum(channel, released, channel.solve(released)) == pytest.approx(channel.solve(released))
    assert iterate(channel, released).counts == pytest.approx(channel.solve(released), rel=1e-3)


def test_groups_settle_each_by_itself():
    channel = RetentionChannel.of([0.3, 0.5, 0.4, 0.9])
    released = np.array([[400.0, 350, 250, 0], [0, 0, 0, 7], [10, 0, 10, 0], [0, 0, 0, 0]])
    both = iterate(channel, released)
    for row in range(3):
        alone = iterate(channel, released[row])
        assert both.counts[row] == pytest.approx(alone.counts)
        assert both.rounds[row] == alone.rounds
    assert both.counts[3].tolist() == [0, 0, 0, 0]
    assert both.converged.all()
    assert maximum(channel, released, channel.solve(released)) == pytest.approx(both.counts, abs=0.05)


def test_values_that_cannot_be_told_apart_share_equally():
    found = reconstruct_counts(RetentionChannel.of([0.0, 0.5, 0.0, 0.4]), [30, 90, 20, 10], "em")
    assert found.estimate[0] == pytest.approx(found.estimate[2])
    assert found.estimate[3] == 0
    assert found.converged is not None
    assert bool(found.converged)


def test_hardly_retained_values_settle_too():
    """Thousands of plain rounds would not do: the direct solution begins where they end."""
    kept = np.array([0.0077, 0.877, 0.0131, *[0.877] * 5, 0.0])
    released = np.array([539.0, 2256, 560, 3227, 2349, 4089, 2606, 3856, 518])
    plain = iterate(RetentionChannel.of(kept), released, rounds=2000, accelerated=False)
    found = reconstruct_counts(RetentionChannel.of(kept), released, "em")
    assert not plain.converged
    assert found.converged
    assert found.rounds == 0
    assert found.gap <= TOLERANCE
