"""Regressions against statsmodels, on Adult and on random tables, and against normal equations of fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow.mining.regression import design as designs
from ppdm_flow.mining.regression.design import CategoricalTerm, Design, Numbers
from ppdm_flow.mining.regression.fit import UnfittedError, group_means, linear, logistic

FOUND = ("values", "errors", "low", "high")
ADULT = [
    "age", "workclass", "fnlwgt", "education", "education_num", "marital", "occupation", "relationship", "race", "sex",
    "capital_gain", "capital_loss", "hours", "country", "income",
]  # fmt: skip
CLOSE = {"rtol": 1e-8, "atol": 1e-12}


@pytest.fixture(scope="module")
def sm():
    """The statsmodels package, or skip."""
    return pytest.importorskip("statsmodels.api", reason="statsmodels is not installed: pip install -e '.[test]'")


def matrix(design):
    """Return the whole design matrix, a column a term."""
    columns = [np.ones(design.rows)]
    for name, code in design.terms[1:]:
        (predictor,) = (p for p in design.predictors if p.name == name)
        columns.append(predictor.values if code < 0 else predictor.codes == code)  # noqa: PD011  # an array
    return np.column_stack(columns)


def random_design(rng, rows=200):
    predictors = [Numbers("x", rng.normal(40, 12, rows))]
    for name, size in (("c", 4), ("d", 7), ("e", 2))[: rng.integers(4)]:
        codes = np.concatenate([np.arange(size), rng.integers(0, size, rows - size)])
        predictors.append(CategoricalTerm(name, codes, int(rng.integers(size))))
    return Design.of(rng.permutation(np.array(predictors, dtype=object)), rows)


def same_linear(sm, design, response, weights):
    mine = linear(design, response, weights, float(design.rows))
    theirs = sm.WLS(response, matrix(design), weights=weights).fit(method="qr")
    np.testing.assert_allclose(mine.values, theirs.params, **CLOSE)
    np.testing.assert_allclose(mine.errors, theirs.bse, **CLOSE)
    np.testing.assert_allclose(np.stack([mine.low, mine.high], axis=1), theirs.conf_int(), **CLOSE)
    return theirs


def same_logistic(sm, design, response, weights):
    mine = logistic(design, response, weights)
    family = sm.families.Binomial()
    theirs = sm.GLM(response, matrix(design), family=family, var_weights=weights).fit(tol=1e-14, maxiter=100)
    np.testing.assert_allclose(mine.values, theirs.params, **CLOSE)
    np.testing.assert_allclose(mine.errors, theirs.bse, **CLOSE)
    np.testing.assert_allclose(np.stack([mine.low, mine.high], axis=1), theirs.conf_int(), **CLOSE)


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("seed", range(24))
def test_both_models_are_those_of_statsmodels(seed, monkeypatch, sm):
    monkeypatch.setattr(designs, "BLOCK", 33)
    rng = np.random.default_rng(seed)
    design = random_design(rng)
    weights = rng.uniform(0.2, 5, design.rows) if seed % 2 else np.ones(design.rows)
    slope = matrix(design) @ rng.normal(0, 0.02, len(design.terms))
    same_linear(sm, design, slope + rng.normal(0, 3, design.rows), weights)
    same_logistic(sm, design, (rng.random(design.rows) < 1 / (1 + np.exp(-slope))).astype(float), weights)


@pytest.mark.slow
def test_adult(data, sm):
    adult = pd.read_csv(data / "adult_uci/adult.data.gz", names=ADULT, skipinitialspace=True)
    codes = [(c, pd.factorize(adult[c])[0]) for c in ("sex", "race", "marital", "workclass")]
    cells = [CategoricalTerm(c, each, int(np.argmax(np.bincount(each)))) for c, each in codes]
    numbers = [Numbers(c, adult[c].to_numpy(dtype=float)) for c in ("age", "education_num")]
    design, weights = Design.of([*numbers, *cells], len(adult)), adult["fnlwgt"].to_numpy(dtype=float)
    same_linear(sm, design, adult["hours"].to_numpy(dtype=float), weights)
    rich = (adult["income"] == ">50K").to_numpy(dtype=float)
    kept = Design.of([*numbers, *cells[:3]], len(adult))
    same_logistic(sm, kept, rich, np.ones(len(adult)))
    same_logistic(sm, kept, rich, weights / weights.mean())


@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(0, 2), st.integers(-20, 20), st.integers(1, 4)), min_size=5))
def test_least_squares_solve_the_normal_equations(rows):
    """The slow twin: Gaussian elimination in fractions."""
    x, codes, y, w = (np.array(each) for each in zip(*rows, strict=True))
    base = int(codes.min())
    design = Design.of([Numbers("x", x.astype(float)), CategoricalTerm("c", codes, base)], len(rows))
    exact = normal_equations(matrix(design), y, w)
    if exact is None or len(rows) <= len(design.terms):
        with pytest.raises(UnfittedError):
            linear(design, y.astype(float), w.astype(float), len(rows))
        return
    values, errors = exact
    mine = linear(design, y.astype(float), w.astype(float), len(rows))
    np.testing.assert_allclose(mine.values, values, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(mine.errors, errors, rtol=1e-7, atol=1e-6)


def normal_equations(cells, response, weights):
    """Return b and its standard errors from (X'WX) b = X'Wy in exact numbers; None where X'WX is singular."""
    rows = [[Fraction(int(c)) for c in row] for row in cells]
    size, ws, ys = len(rows[0]), [Fraction(int(w)) for w in weights], [Fraction(int(y)) for y in response]
    unit = [[Fraction(int(i == j)) for j in range(size)] for i in range(size)]
    left = [
        [sum((w * r[i] * r[j] for w, r in zip(ws, rows, strict=True)), Fraction(0)) for j in range(size)]
        + [sum((w * r[i] * y for w, r, y in zip(ws, rows, ys, strict=True)), Fraction(0))]
        + unit[i]
        for i in range(size)
    ]
    for i in range(size):
        pivot = next((k for k in range(i, size) if left[k][i]), None)
        if pivot is None:
            return None
        left[i], left[pivot] = left[pivot], left[i]
        left[i] = [each / left[i][i] for each in left[i]]
        for k in range(size):
            if k != i:
                left[k] = [a - left[k][i] * b for a, b in zip(left[k], left[i], strict=True)]
    values = [row[size] for row in left]
    apart = [
        y - sum((a * b for a, b in zip(r, values, strict=True)), Fraction(0)) for r, y in zip(rows, ys, strict=True)
    ]
    if len(rows) <= size:
        return values, []
    scale = sum((w * e * e for w, e in zip(ws, apart, strict=True)), Fraction(0)) / (len(rows) - size)
    return [float(v) for v in values], [float(scale * left[i][size + 1 + i]) ** 0.5 for i in range(size)]


def test_a_category_that_separates_the_response_has_no_estimates():
    codes = np.repeat([0, 1], 50)
    response = np.concatenate([np.tile([0.0, 1.0], 25), np.ones(50)])
    with pytest.raises(UnfittedError, match=r"separate|tells"):
        logistic(Design.of([CategoricalTerm("c", codes, 0)], 100), response, np.ones(100))
    with pytest.raises(UnfittedError, match="the same"):
        logistic(Design.of([], 100), np.ones(100), np.ones(100))


def test_groups_of_which_others_tell_have_no_estimates():
    codes = np.arange(30) % 5
    x, some = np.arange(30.0), CategoricalTerm("c", codes, 0)
    for other in (CategoricalTerm("d", codes // 2, 0), Numbers("x", codes * 1e9 + 7)):
        with pytest.raises(UnfittedError, match="sum of others"):
            linear(Design.of([other, some], 30), x, np.ones(30), 30.0)
    with pytest.raises(UnfittedError, match="sum of others"):
        linear(Design.of([CategoricalTerm("c", codes, 9)], 30), x, np.ones(30), 30.0)


def test_terms_that_are_sums_of_others_have_no_estimates():
    x = np.arange(30.0)
    with pytest.raises(UnfittedError, match="sum of others"):
        linear(Design.of([Numbers("x", x), Numbers("y", 2 * x + 1)], 30), x, np.ones(30), 30.0)
    with pytest.raises(UnfittedError, match="few"):
        linear(Design.of([Numbers("x", x[:2])], 2), x[:2], np.ones(2), 2.0)


@pytest.mark.parametrize("weighted", [False, True])
def test_means_are_regressions_on_an_intercept(weighted, sm):
    rng = np.random.default_rng(4)
    groups, values = np.repeat([0, 1, 2], [40, 3, 1]), rng.normal(10, 2, 44)
    weights = rng.uniform(1, 9, 44) if weighted else np.ones(44)
    fitted = group_means("x", groups, 4, values, weights, np.ones(44))
    assert [g for _, g in fitted.terms] == [0, 1]
    for place, group in enumerate((0, 1)):
        mine = groups == group
        theirs = sm.WLS(values[mine], np.ones(mine.sum()), weights=weights[mine]).fit()
        got = np.stack([getattr(fitted, what) for what in FOUND])[:, place]
        np.testing.assert_allclose(got, [theirs.params[0], theirs.bse[0], *theirs.conf_int()[0]], **CLOSE)
