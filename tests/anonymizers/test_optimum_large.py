"""The optimal operator against the full linear program with up to two hundred values, degenerate ones included."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import coo_array

from ppdm_flow.anonymizers.fine_grain_perturbation.optimum import optimal_retention, worst_excess
from ppdm_flow.core.roles import Directions

DIRECTIONS = [Directions.UPWARD, Directions.BOTH]


def full_program(frequency, slack, directions) -> float:
    """Every pair (j, i), i != j, of each value with a bound: rows p_j + a p_i <= b, scaled to a largest entry of 1."""
    m = len(frequency)
    rows, columns, entries, bounds = [], [], [], []
    for j in np.flatnonzero(np.isfinite(slack)):
        gamma = slack[j] + 1
        others = np.delete(np.arange(m), j)
        weights = [(m - 1, gamma), (gamma, m - 1)] if directions is Directions.BOTH else [(m - 1, gamma)]
        for own, other in weights:
            scale = max(own, other)
            start = sum(len(b) for b in bounds)
            number = start + np.arange(m - 1)
            rows += [number, number]
            columns += [np.full(m - 1, j), others]
            entries += [np.full(m - 1, own / scale), np.full(m - 1, other / scale)]
            bounds.append(np.full(m - 1, slack[j] / scale))
    if not bounds:
        return float(frequency.sum())
    limit = np.concatenate(bounds)
    matrix = coo_array((np.concatenate(entries), (np.concatenate(rows), np.concatenate(columns))), (len(limit), m))
    tight = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    found = linprog(-frequency, A_ub=matrix.tocsr(), b_ub=limit, bounds=(0, 1), method="highs", options=tight)
    assert found.status == 0
    return -float(found.fun)


def one_free(slack: np.ndarray) -> np.ndarray:
    out = slack.copy()
    out[0] = np.inf
    return out


REGIMES = {
    "equal gammas": lambda rng, m: np.full(m, 4.0),
    "two gammas": lambda rng, m: rng.choice([0.8, 20.0], m),
    "spread gammas": lambda rng, m: 10 ** rng.uniform(-2, 4, m),
    "of the order of m": lambda rng, m: m * rng.uniform(0.2, 3, m),
    "gamma is m - 1": lambda rng, m: np.full(m, max(m - 2.0, 0.5)),
    "gammas near 1": lambda rng, m: 10 ** rng.uniform(-9, -6, m),
    "one value without a bound": lambda rng, m: one_free(10 ** rng.uniform(-1, 3, m)),
    "one value with a bound": lambda rng, m: np.where(np.arange(m) == m - 1, 3.0, np.inf),
}


@pytest.mark.slow(quick=17)
@pytest.mark.parametrize("directions", DIRECTIONS)
@pytest.mark.parametrize("size", [1, 2, 3, 40])
@pytest.mark.parametrize("regime", REGIMES)
def test_degenerate_instances(regime, size, directions):
    for seed in range(4):
        rng = np.random.default_rng([seed, size])
        spread = [np.full(size, 1 / size), rng.dirichlet(np.full(size, 0.2)), rng.dirichlet(np.full(size, 5.0))]
        frequency = spread[seed % 3]
        slack = REGIMES[regime](rng, size)
        retention = optimal_retention(frequency, slack, directions)
        assert worst_excess(retention, slack, directions) <= 0
        assert frequency @ retention == pytest.approx(full_program(frequency, slack, directions), abs=1e-9)


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("directions", DIRECTIONS)
@pytest.mark.parametrize(("regime", "size"), list(zip(REGIMES, [200, 150, 200, 120, 100, 200, 150, 200], strict=True)))
def test_up_to_two_hundred_values(regime, size, directions):
    rng = np.random.default_rng(size)
    frequency = rng.dirichlet(np.full(size, 0.5))
    slack = REGIMES[regime](rng, size)
    retention = optimal_retention(frequency, slack, directions)
    assert worst_excess(retention, slack, directions) <= 0
    assert frequency @ retention == pytest.approx(full_program(frequency, slack, directions), abs=1e-9)
