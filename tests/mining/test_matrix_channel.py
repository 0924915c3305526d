"""A whole matrix against the fine-grain form, against dense algebra, and against simulation on a fixed seed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.mining.reconstruction.estimate import misfit, reconstruct_counts, slopes, variances
from ppdm_flow.mining.reconstruction.likelihood import (
    MatrixChannel,
    RetentionChannel,
    SingularMatrixError,
    condition,
    iterate,
    maximum,
)

MATRIX = np.array([[0.7, 0.2, 0.1], [0.05, 0.9, 0.05], [0.3, 0.1, 0.6]])


def fine_grain(kept):
    return np.diag(kept) + ((1 - kept) / len(kept))[:, None]


@given(st.lists(st.floats(0.05, 1.0), min_size=1, max_size=8), st.data())
def test_it_agrees_with_the_fine_grain_form(kept, data):
    kept = np.array(kept)
    m = len(kept)
    counts = np.array(data.draw(st.lists(st.integers(0, 400), min_size=m, max_size=m)), dtype=float)
    one, other = MatrixChannel.of(fine_grain(kept)), RetentionChannel.of(kept)
    assert one.forward(counts) == pytest.approx(other.forward(counts), abs=1e-8)
    assert one.backward(counts) == pytest.approx(other.backward(counts), abs=1e-8)
    assert one.solve(counts) == pytest.approx(other.solve(counts), rel=1e-8, abs=1e-6)
    assert variances(one, counts) == pytest.approx(variances(other, counts), rel=1e-6, abs=1e-5)
    spread = variances(other, counts)
    if spread.min() > 1.0:
        assert slopes(one, counts) == pytest.approx(slopes(other, counts), rel=1e-5, abs=1e-5)


@examples(12)
@given(st.lists(st.floats(0.2, 1.0), min_size=2, max_size=5), st.data())
def test_estimates_are_those_of_the_fine_grain_form(kept, data):
    kept = np.array(kept)
    m = len(kept)
    released = np.array(data.draw(st.lists(st.integers(5, 900), min_size=m, max_size=m)), dtype=float)
    for method in ("inverse", "em"):
        one = reconstruct_counts(MatrixChannel.of(fine_grain(kept)), released, method)
        other = reconstruct_counts(RetentionChannel.of(kept), released, method)
        scale = 1e-3 * released.sum() if method == "em" else 1e-5
        assert one.estimate == pytest.approx(other.estimate, abs=scale)
        assert one.error == pytest.approx(other.error, rel=1e-5, abs=1e-4)
        if method == "inverse":
            assert one.low == pytest.approx(other.low, rel=1e-4, abs=1e-2)
            assert one.high == pytest.approx(other.high, rel=1e-4, abs=1e-2)


def test_the_variance_is_that_of_the_definition():
    counts = np.array([50.0, 30.0, 20.0])
    covariance = sum(n * (np.diag(row) - np.outer(row, row)) for n, row in zip(counts, MATRIX, strict=True))
    inverse = np.linalg.inv(MATRIX.T)
    whole = inverse @ covariance @ inverse.T
    channel = MatrixChannel.of(MATRIX)
    assert variances(channel, counts) == pytest.approx(np.diag(whole))
    for j in range(3):  # one record more of j, the others moving along
        moved = whole[:, j] / whole[j, j]
        step = np.diag(inverse @ _covariance(counts + moved) @ inverse.T)[j] - whole[j, j]
        assert slopes(channel, counts)[j] == pytest.approx(step)


def _covariance(counts):
    return sum(n * (np.diag(row) - np.outer(row, row)) for n, row in zip(counts, MATRIX, strict=True))


def test_estimates_are_unbiased_and_their_errors_true():
    """2,000 tables on a fixed seed: the mean within 5 of its standard errors, the spread within 8 %."""
    rng = np.random.default_rng(7)
    original, channel = np.array([300, 150, 50]), MatrixChannel.of(MATRIX)
    released = sum(rng.multinomial(n, row, size=2000) for n, row in zip(original, MATRIX, strict=True))
    found = reconstruct_counts(channel, released)
    wanted = np.sqrt(variances(channel, original.astype(float)))
    assert np.abs(found.unbiased.mean(axis=0) - original).max() < 5 * wanted.max() / np.sqrt(2000)
    assert found.unbiased.std(axis=0) == pytest.approx(wanted, rel=0.08)
    inside = (found.low <= original) & (original <= found.high)
    assert inside.mean(axis=0).min() > 0.93


@examples(12)
@given(st.lists(st.integers(0, 500), min_size=3, max_size=3).filter(any))
def test_the_likelihood_is_at_its_maximum(released):
    released = np.array(released, dtype=float)
    channel = MatrixChannel.of(MATRIX)
    found = iterate(channel, released, maximum(channel, released, channel.solve(released)))
    assert bool(found.converged)
    assert found.counts.sum() == pytest.approx(released.sum())
    gradient = channel.backward(np.divide(released, channel.forward(found.counts), out=np.zeros(3), where=released > 0))
    assert gradient.max() <= 1 + 2e-6  # Karush, Kuhn and Tucker, per record


def test_a_matrix_without_an_inverse_is_refused():
    with pytest.raises(SingularMatrixError):
        MatrixChannel.of(np.array([[0.5, 0.5], [0.5, 0.5]]))
    with pytest.raises(SingularMatrixError):
        MatrixChannel.of(np.array([[0.5 + 1e-9, 0.5 - 1e-9], [0.5, 0.5]]))
    assert condition(np.eye(3)) == pytest.approx(1.0)
    for bad in (np.ones((2, 3)) / 3, np.array([[0.5, 0.4], [0.5, 0.5]]), np.array([[1.5, -0.5], [0, 1]])):
        with pytest.raises(ValueError, match="transition matrix"):
            MatrixChannel.of(bad)


def test_counts_of_another_operator_are_noticed():
    channel = MatrixChannel.of(MATRIX)
    assert not misfit(channel, np.array([500.0, 100.0, 900.0]) @ MATRIX)
    assert misfit(channel, np.array([0.0, 0.0, 1500.0]))
