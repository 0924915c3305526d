"""Expected reconstruction error against explicit matrices; its minimum against grids and generic optimizers."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, minimize

from ppdm_flow.anonymizers.fine_grain_perturbation.channel import (
    aggregate_retention,
    expected_error,
    gradient,
    level_path,
    single_path,
)
from ppdm_flow.anonymizers.fine_grain_perturbation.optimum import optimal_retention, uniform_retention, worst_excess
from ppdm_flow.core.roles import Directions
from ppdm_flow.sdk.anonymizer import Operator

DIRECTIONS = [Directions.UPWARD, Directions.BOTH]


def by_matrices(frequency, retention) -> float:
    p = Operator("d", tuple(map(str, range(len(frequency)))), retention).matrix()
    inverse = np.linalg.inv(p)
    spread = np.diag(p @ frequency) - p @ np.diag(frequency) @ p.T
    return float(np.trace(inverse @ spread @ inverse.T))


def instance(seed: int, smallest: int, largest: int):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(smallest, largest + 1))
    frequency = rng.dirichlet(np.full(m, 10 ** rng.uniform(-1, 1)))
    slack = [np.full(m, 10 ** rng.uniform(-1, 2)), 10 ** rng.uniform(-1, 2.5, m), m * rng.uniform(0.2, 3, m)][seed % 3]
    if seed % 5 == 4:
        slack[0] = np.inf
    return frequency, slack


def rows_of(slack, directions) -> tuple[np.ndarray, np.ndarray]:
    m, rows, limits = len(slack), [], []
    for j, i in itertools.permutations(range(m), 2):
        if np.isfinite(slack[j]):
            gamma = slack[j] + 1
            pairs = [(m - 1, gamma)] + ([(gamma, m - 1)] if directions is Directions.BOTH else [])
            for own, other in pairs:
                row = np.zeros(m)
                row[j], row[i] = own, other
                rows.append(row / gamma)
                limits.append(slack[j] / gamma)
    return np.array(rows), np.array(limits)


@pytest.mark.parametrize("seed", range(20))
def test_error_and_gradient(seed):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 9))
    frequency, retention = rng.dirichlet(np.ones(m)), rng.uniform(0.02, 1, m)
    assert expected_error(frequency, retention) == pytest.approx(by_matrices(frequency, retention), rel=1e-9)
    assert expected_error(frequency, np.stack([retention] * 2)).shape == (2,)
    step = 1e-6 * np.eye(m)
    slopes = [(by_matrices(frequency, retention + e) - by_matrices(frequency, retention - e)) / 2e-6 for e in step]
    found = gradient(frequency, retention)
    assert np.abs(found - slopes).max() <= 1e-6 * np.abs(found).max()


def test_one_value_that_is_never_kept_is_what_is_left():
    rng = np.random.default_rng(1)
    frequency, retention = rng.dirichlet(np.ones(5)), np.array([0.0, 0.4, 0.3, 0.9, 0.2])
    assert expected_error(frequency, retention) == pytest.approx(by_matrices(frequency, retention), rel=1e-9)
    near = [gradient(frequency, np.maximum(retention, p))[0] for p in (0.0, 1e-6)]
    assert near[0] == pytest.approx(near[1], rel=1e-3)
    retention[1] = 0.0
    assert expected_error(frequency, retention) == np.inf
    assert expected_error(np.ones(1), np.ones(1)) == 0.0


def test_it_is_the_error_of_simulated_releases():
    """10,000 releases of 300 rows; the mean squared distance lies within 5 standard errors (chance 6e-7)."""
    rng = np.random.default_rng(8)
    retention, counts = np.array([0.5, 0.3, 0.7, 0.4]), np.array([150, 100, 40, 10])
    p = Operator("d", tuple("abcd"), retention).matrix()
    released = sum(rng.multinomial(n, p[:, i], size=10_000) for i, n in enumerate(counts))
    distance = ((np.linalg.solve(p, released.T).T - counts) ** 2).sum(axis=1)
    expected = counts.sum() * float(expected_error(counts / counts.sum(), retention))
    assert abs(distance.mean() - expected) <= 5 * distance.std() / 100


@pytest.mark.slow(quick=3)
@pytest.mark.parametrize("directions", DIRECTIONS)
@pytest.mark.parametrize("seed", range(12))
def test_no_grid_point_is_better(seed, directions):
    frequency, slack = instance(seed, 2, 3)
    found = aggregate_retention(frequency, slack, directions)
    rows, limits = rows_of(slack, directions)
    highest = uniform_retention(slack, directions).max()
    axis = np.unique(np.concatenate([np.linspace(0, 1, 61), np.linspace(0, min(1.0, 4 * highest), 61)]))
    grid = np.array(list(itertools.product(axis, repeat=len(slack))))
    grid = grid[(grid @ rows.T <= limits).all(axis=1)]
    assert len(grid) > 50
    assert found.error <= expected_error(frequency, grid).min() * (1 + 1e-9)


@pytest.mark.slow(quick=12)
@pytest.mark.filterwarnings("ignore:Values in x were outside bounds:RuntimeWarning")  # of older versions of SciPy
@pytest.mark.parametrize("directions", DIRECTIONS)
@pytest.mark.parametrize("seed", range(100, 115))
def test_no_generic_optimizer_finds_better(seed, directions):
    frequency, slack = instance(seed, 2, 8)
    found = aggregate_retention(frequency, slack, directions)
    rows, limits = rows_of(slack, directions)
    uniform = uniform_retention(slack, directions)
    rng = np.random.default_rng(seed)
    vertices = [optimal_retention(rng.dirichlet(np.full(len(slack), 0.5)), slack, directions) for _ in range(4)]
    for start in [uniform, *(0.5 * uniform + 0.5 * v for v in vertices)]:
        other = minimize(
            lambda p: np.log(float(expected_error(frequency, np.clip(p, 1e-9, 1)))),
            start,
            jac=lambda p: (
                gradient(frequency, np.clip(p, 1e-9, 1)) / float(expected_error(frequency, np.clip(p, 1e-9, 1)))
            ),
            method="SLSQP",
            bounds=[(1e-9, 1)] * len(slack),
            constraints=LinearConstraint(rows, -np.inf, limits),
            options={"maxiter": 300, "ftol": 1e-13},
        )
        violation = max(0.0, float((rows @ other.x - limits).max()))
        assert found.error <= np.exp(other.fun) * (1 + 1e-6 + 1e3 * violation)


@pytest.mark.slow
@pytest.mark.parametrize("directions", DIRECTIONS)
def test_never_worse_than_the_alternatives_and_stationary(directions):
    for seed in range(60):
        frequency, slack = instance(seed, 2, 40)
        found = aggregate_retention(frequency, slack, directions)
        assert worst_excess(found.retention, slack, directions) <= 0
        uniform, record = uniform_retention(slack, directions), optimal_retention(frequency, slack, directions)
        assert found.error <= min(expected_error(frequency, uniform), expected_error(frequency, record))
        assert 0 <= found.gap <= 1e-5
        assert found.error == pytest.approx(float(expected_error(frequency, found.retention)))


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("directions", DIRECTIONS)
def test_paths_hold_the_constraints_and_reach_above_every_operator(directions):
    for seed in range(30):
        _, slack = instance(seed, 3, 10)
        rng = np.random.default_rng(seed)
        size, level = len(slack), level_path(slack, directions)
        singles = {i: single_path(slack, directions, i) for i in range(size) if np.isfinite(slack[i])}
        for path in [level, *(p for p in singles.values() if p.high > p.low)]:
            for p in path.at(np.linspace(path.low, path.high, 7)):
                assert worst_excess(p, slack, directions) <= 1e-9
        for _ in range(20):
            vertices = [optimal_retention(rng.dirichlet(np.full(size, 0.2)), slack, directions) for _ in range(3)]
            p = rng.dirichlet(np.ones(3)) @ np.array(vertices)
            top = int(np.argmax(p))
            single = top in singles and p[top] > singles[top].low
            above = (singles[top] if single else level).at(p[[top]])[0]
            assert (above >= p - 1e-9).all()


def test_edges():
    for directions in DIRECTIONS:
        assert aggregate_retention(np.ones(1), np.array([0.5]), directions).retention.tolist() == [1.0]
        free = aggregate_retention(np.full(2, 0.5), np.full(2, np.inf), directions)
        assert (free.retention.tolist(), free.error, free.gap) == ([1.0, 1.0], 0.0, 0.0)
        sure = aggregate_retention(np.array([1.0, 0.0]), np.array([1.0, 3.0]), directions)
        assert np.isfinite(sure.error)
