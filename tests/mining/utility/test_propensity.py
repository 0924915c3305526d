"""Propensities against scikit-learn, plain twins and what theory expects of samples."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from tiers import examples

from ppdm_flow.core.roles import AttributeType
from ppdm_flow.mining.utility.coding import CodedColumn
from ppdm_flow.mining.utility.propensity import (
    block,
    by_logistic,
    by_permutation,
    fitted_probabilities,
    in_steps,
    products,
)
from ppdm_flow.tables.column import Column, union
from ppdm_flow.tables.numeric.column import NumericColumn


def origin(before, after):
    return np.repeat([False, True], [before, after])


def test_probabilities_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    features = rng.normal(size=(600, 4)) + np.repeat([[0.0], [0.5]], 300, axis=0)
    released = origin(300, 300)
    model = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(features, released)
    design, _ = np.linalg.qr(np.hstack([np.ones((600, 1)), features]))
    assert fitted_probabilities(design, released) == pytest.approx(model.predict_proba(features)[:, 1], abs=1e-5)


@examples(15)
@given(st.lists(st.tuples(st.integers(0, 2), st.booleans()), min_size=4, max_size=30))
def test_a_saturated_model_gives_the_share_of_each_value(rows):
    """With a feature for each value, p of a row is the share of released rows among those of its value."""
    released = np.array([r for _, r in rows])
    values = [v for v, _ in rows]
    if released.all() or not released.any():
        return
    features = np.eye(3)[values][:, 1:]
    pmse, share = 0.0, released.mean()
    for value in values:
        same = [r for v, r in rows if v == value]
        pmse += (sum(same) / len(same) - share) ** 2 / len(rows)
    assert by_logistic(features, released).pmse == pytest.approx(pmse, abs=1e-4)


def test_expectation_and_deviation_in_closed_form():
    """k - 1 = 3 further coefficients, N = 300 rows, c = 1/3 of them released: 3 (2/3)^2 (1/3) / 300."""
    features = np.random.default_rng(0).normal(size=(300, 3))
    features = np.hstack([features, features[:, :1]])  # the fourth depends on the first, and does not count
    found = by_logistic(features, origin(200, 100))
    assert found.expected == pytest.approx(3 * (4 / 9) * (1 / 3) / 300)
    assert found.deviation == pytest.approx(np.sqrt(6) * (4 / 9) * (1 / 3) / 300)


def test_a_release_drawn_from_the_original_has_ratio_one_and_an_independent_one_two():
    """60 draws each: the mean of 60 chi-square / k values lies within 4 standard errors."""
    rng = np.random.default_rng(4)
    drawn, apart = [], []
    for _ in range(60):
        before = rng.normal(size=(400, 5))
        mean, spread = before.mean(axis=0), before.std(axis=0)
        for ratios, after in ((drawn, rng.normal(mean, spread, (400, 5))), (apart, rng.normal(size=(400, 5)))):
            ratios.append(by_logistic(np.vstack([before, after]), origin(400, 400)).ratio)
    error = np.sqrt(2 / 5 / 60)
    assert np.mean(drawn) == pytest.approx(1, abs=4 * error)
    assert np.mean(apart) == pytest.approx(2, abs=8 * error)


def test_a_copy_cannot_be_told_and_another_population_can():
    before = np.random.default_rng(1).normal(size=(200, 2))
    copy = by_logistic(np.vstack([before, before]), origin(200, 200))
    assert copy.pmse == pytest.approx(0, abs=1e-15)
    assert copy.standardized < 0
    other = by_logistic(np.vstack([before, before + 100]), origin(200, 200))
    assert other.pmse == pytest.approx(0.25, abs=1e-3)
    nothing = by_logistic(np.zeros((400, 0)), origin(200, 200))
    assert (nothing.pmse, nothing.ratio, nothing.standardized) == (pytest.approx(0), None, None)


def test_permutation():
    groups = np.tile([0, 1], 100)

    def predict(labels):
        return np.array([labels[groups == g].mean() for g in (0, 1)])[groups]

    found = by_permutation(origin(100, 100), predict, 200)
    assert found.pmse == 0
    assert found.expected == pytest.approx(0.25 / 199, rel=0.4)  # a hypergeometric share's variance
    assert by_permutation(groups == 1, predict, 20).pmse == 0.25


def test_features():
    numbers = NumericColumn(np.array([1.0, 3.0, 0.0]), AttributeType.FLOAT, np.array([False, False, True]))
    same = CodedColumn("x", numbers, numbers)
    assert block(same, 5).tolist() == [[-1, 0], [1, 0], [0, 1]] * 2
    mine, theirs = Column.of(["a", "a", "b", None]), Column.of(["a", "c", "d", "⊥"])
    names = union((mine.categories, theirs.categories))
    features = block(CodedColumn("c", mine.onto(names), theirs.onto(names)), 2)
    assert features.shape == (8, 2)  # the most frequent value has none, one has its own, all others share one
    assert features[[0, 1, 4]].sum() == 0
    assert features.sum(axis=1).tolist() == [0, 0, 1, 1, 0, 1, 1, 1]
    one, two = np.arange(3.0)[:, None], np.ones((3, 2))
    made = products([(one, True), (two, False)], 3)
    assert [m.shape[1] for m in made] == [1, 2]
    assert made[0].ravel().tolist() == [0, 1, 4]
    assert products([(one, True), (two, False)], 1)[0].shape == (3, 1)


def test_numbers_in_steps():
    numbers = np.stack([np.arange(400.0), np.arange(400.0) % 7, np.r_[np.zeros(300), np.arange(1.0, 101.0)]], axis=1)
    found = in_steps(numbers, 8)
    assert np.bincount(found[:, 0].astype(int)).tolist() == [51, 50, 50, 50, 50, 50, 50, 49]
    assert found[:, 1].tolist() == numbers[:, 1].tolist()
    assert found[:, 2].tolist() == sorted(found[:, 2].tolist())
    assert len(set(found[:300, 2])) == 1
    assert in_steps(np.zeros((0, 2))).shape == (0, 2)
