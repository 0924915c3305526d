"""The optimal operator against the full linear program, and against exact arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from ppdm_flow.anonymizers.fine_grain_perturbation.optimum import (
    optimal_retention,
    record_utility,
    strictly_feasible,
    uniform_retention,
    worst_excess,
)
from ppdm_flow.core.roles import Directions

GAMMA = np.array([1.5, 3.0, 9.5, 18.0])  # SARS, HIV, H1N1, cancer
FREQUENCY = np.full(4, 0.25)
DIRECTIONS = [Directions.UPWARD, Directions.BOTH]


def full_program(frequency, slack, directions) -> float:
    """All m(m - 1) rows (twice as many with both directions), by HiGHS."""
    m = len(frequency)
    rows, bounds = [], []
    for j in np.flatnonzero(np.isfinite(slack)):
        gamma = slack[j] + 1
        for i in range(m):
            pairs = [(1, (m - 1) / gamma)] if directions is Directions.BOTH else []
            for a, b in [((m - 1) / gamma, 1), *pairs] if i != j else []:
                row = np.zeros(m)
                row[j], row[i] = a, b
                rows.append(row)
                bounds.append(slack[j] / gamma)
    tight = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    if not rows:
        return float(frequency.sum())
    found = linprog(-frequency, A_ub=np.array(rows), b_ub=bounds, bounds=(0, 1), method="highs", options=tight)
    assert found.status == 0
    return -float(found.fun)


@pytest.mark.parametrize(
    ("directions", "expected", "utility"),
    [
        (Directions.UPWARD, [0, 1 / 3, 1 / 3, 1 / 3], 0.4375),
        (Directions.BOTH, [0, 1 / 6, 1 / 6, 1 / 6], 0.34375),
    ],
)
def test_the_papers_example(directions, expected, utility):
    retention = optimal_retention(FREQUENCY, GAMMA - 1, directions)
    assert retention == pytest.approx(expected, abs=1e-12)
    assert record_utility(FREQUENCY, retention) == pytest.approx(utility, abs=1e-12)


def test_the_papers_uniform_operator():
    retention = uniform_retention(GAMMA - 1, Directions.UPWARD)
    assert retention == pytest.approx(np.full(4, 1 / 9), abs=1e-12)
    assert record_utility(FREQUENCY, retention) == pytest.approx(1 / 3, abs=1e-12)


@pytest.mark.parametrize(
    ("theta", "fine_grain", "uniform"),
    [(20, 0.5221, 0.3660), (30, 0.6228, 0.4811), (40, 0.6960, 0.5709), (50, 0.7516, 0.6429)],
)
def test_zipf_of_forty_values(theta, fine_grain, uniform):
    frequency = 1 / np.arange(1, 41)
    frequency /= frequency.sum()
    room = 1 - theta * frequency
    slack = np.where(room > 0, (theta - 1) / np.where(room > 0, room, 1), np.inf)
    best = optimal_retention(frequency, slack, Directions.UPWARD)
    assert record_utility(frequency, best) == pytest.approx(fine_grain, abs=5e-5)
    assert record_utility(frequency, uniform_retention(slack, Directions.UPWARD)) == pytest.approx(uniform, abs=5e-5)


def instance(seed: int):
    """Regimes of gamma: equal, spread, very spread, tied to f, of order m and m^2, ties and missing bounds."""
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 13))
    frequency = rng.dirichlet(np.full(m, 10 ** rng.uniform(-1.5, 1)))
    slack = [
        lambda: np.full(m, 10 ** rng.uniform(-3, 3)),
        lambda: np.exp(rng.normal(1, 1, m)),
        lambda: 10 ** rng.uniform(-4, 7, m),
        lambda: 1 / (frequency + 0.01),
        lambda: m * rng.uniform(0.2, 3, m),
        lambda: m * m * rng.uniform(0.2, 3, m),
        lambda: rng.choice([0.5, 3.0, 10.0, np.inf], m),
        lambda: np.where(rng.random(m) < 0.3, np.inf, 10 ** rng.uniform(-2, 4, m)),
    ][int(rng.integers(8))]()
    return frequency, slack


@pytest.mark.slow
@pytest.mark.parametrize("directions", DIRECTIONS)
def test_equals_the_full_linear_program(directions):
    singles = 0
    for seed in range(700):
        frequency, slack = instance(seed)
        retention = optimal_retention(frequency, slack, directions)
        best = full_program(frequency, slack, directions)
        assert frequency @ retention == pytest.approx(best, abs=1e-9), seed
        assert worst_excess(retention, slack, directions) <= 0, seed
        order = np.sort(retention)
        singles += bool(order[-1] > order[-2] + 1e-9 and slack[np.argmax(retention)] < np.inf)
    assert singles >= 20  # the case of one value above all others is really met


@pytest.mark.parametrize("directions", DIRECTIONS)
def test_one_dominant_value_stands_above_the_others(directions):
    frequency = np.array([0.97, 0.01, 0.01, 0.01])
    slack = np.full(4, 4.0)
    retention = optimal_retention(frequency, slack, directions)
    assert retention[0] > retention[1:].max() + 0.05
    assert frequency @ retention == pytest.approx(full_program(frequency, slack, directions), abs=1e-9)


@given(
    st.lists(st.tuples(st.integers(0, 1000), st.floats(1e-6, 0.98), st.floats(1e-6, 0.98)), min_size=2, max_size=8),
    st.sampled_from(DIRECTIONS),
)
def test_no_posterior_beyond_its_bound_in_exact_arithmetic(values, directions):
    rows = [(n, min(a, b), max(a, b)) for n, a, b in values if abs(a - b) > 1e-9 * max(a, b)]
    if len(rows) < 2:
        return
    counts, r1, r2 = (np.array(c, dtype=float) for c in zip(*rows, strict=True))
    frequency = (counts + 1) / (counts + 1).sum()
    retention = optimal_retention(frequency, (r2 - r1) / (r1 * (1 - r2)), directions)
    p = [Fraction(float(x)) for x in retention]
    m = len(p)
    for i in range(m):
        low, high = Fraction(float(r1[i])), Fraction(float(r2[i]))
        upward = _worst(low, p[i] + (1 - p[i]) / m, min((1 - p[k]) / m for k in range(m) if k != i))
        assert float(upward - high) <= 1e-12
        if directions is Directions.BOTH:
            at = max(p[k] + (1 - p[k]) / m for k in range(m) if k != i)
            assert float(low - _worst(high, (1 - p[i]) / m, at)) <= 1e-12


def _worst(prior: Fraction, own: Fraction, other: Fraction) -> Fraction:
    return prior * own / (prior * own + (1 - prior) * other)


@pytest.mark.parametrize("directions", DIRECTIONS)
@pytest.mark.parametrize("operator", ["fine_grain", "uniform"])
def test_edges(directions, operator):
    def solve(frequency, slack):
        f, s = np.array(frequency), np.array(slack)
        return optimal_retention(f, s, directions) if operator == "fine_grain" else uniform_retention(s, directions)

    assert solve([1.0], [0.5]).tolist() == [1.0]  # one value: nothing to learn
    assert solve([0.5, 0.5], [np.inf, np.inf]).tolist() == [1.0, 1.0]  # no bound at all
    assert solve([0.5, 0.5], [2.0, 2.0]) == pytest.approx([0.5, 0.5])  # (gamma - 1) / (gamma + 1)
    assert solve([0.2] * 5, [1e-12] * 5) == pytest.approx(np.full(5, 2e-13), rel=1e-3)  # gamma near 1
    assert (solve([0.3, 0.7], [1.0, np.inf]) <= 1).all()
    assert (solve([0.0, 1.0], [1.0, 3.0]) >= 0).all()  # a value that does not occur


def test_a_value_without_a_bound_is_held_back_by_the_bounds_of_others():
    retention = optimal_retention(np.array([0.5, 0.5]), np.array([1.0, np.inf]), Directions.UPWARD)
    assert retention == pytest.approx([1.0, 0.0])  # either of them alone; together they would give each other away
    assert worst_excess(retention, np.array([1.0, np.inf]), Directions.UPWARD) <= 0


def test_repair_shrinks_an_operator_that_is_too_generous():
    slack = GAMMA - 1
    for directions in DIRECTIONS:
        repaired = strictly_feasible(np.array([0.5, 0.5, 0.5, 0.5]), slack, directions)
        assert worst_excess(repaired, slack, directions) <= 0
    assert strictly_feasible(np.zeros(4), slack, Directions.BOTH).tolist() == [0] * 4


@pytest.mark.parametrize("directions", DIRECTIONS)
def test_extreme_bounds_hold_in_doubles(directions):
    slack = np.array([1e13, 1e12, 3e12])
    retention = optimal_retention(np.full(3, 1 / 3), slack, directions)
    assert worst_excess(retention, slack, directions) <= 0
    assert retention.min() > 0.999999


@pytest.mark.parametrize("directions", DIRECTIONS)
def test_ten_thousand_values(directions):
    rng = np.random.default_rng(3)
    frequency = rng.dirichlet(np.full(10_000, 0.3))
    slack = 10 ** rng.uniform(-1, 6, 10_000)
    retention = optimal_retention(frequency, slack, directions)
    assert worst_excess(retention, slack, directions) <= 0
    assert frequency @ retention >= frequency @ uniform_retention(slack, directions)
