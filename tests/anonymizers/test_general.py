"""The best matrix of any form, against all m^2 (m - 1) rows written out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from ppdm_flow.anonymizers.fine_grain_perturbation.optimum import optimal_retention, record_utility
from ppdm_flow.anonymizers.fine_grain_perturbation.worth import general_optimum
from ppdm_flow.core.roles import Directions

GAMMA = np.array([1.5, 3.0, 9.5, 18.0])  # SARS, HIV, H1N1, cancer
FREQUENCY = np.full(4, 0.25)
DIRECTIONS = [Directions.UPWARD, Directions.BOTH]


def naive(frequency, slack, directions) -> float:
    m = len(frequency)
    rows = []
    for i in np.flatnonzero(np.isfinite(slack)):
        for j in range(m):
            for k in set(range(m)) - {int(i)}:
                for a, b in [((j, i), (j, k)), ((j, k), (j, i))][: 2 if directions is Directions.BOTH else 1]:
                    row = np.zeros((m, m))
                    row[a], row[b] = 1, -(slack[i] + 1)
                    rows.append(row.ravel())
    sums = [np.eye(m)[i] * np.ones((m, 1)) for i in range(m)]
    found = linprog(
        -np.diag(frequency).ravel(),
        A_ub=np.array(rows) if rows else None,
        b_ub=np.zeros(len(rows)) if rows else None,
        A_eq=np.array([s.ravel() for s in sums]),
        b_eq=np.ones(m),
        bounds=(0, 1),
    )
    assert found.status == 0
    return -float(found.fun)


def excess(matrix, slack, directions) -> float:
    """How far the worst ratio lies above its gamma, over every entry."""
    found = [0.0]
    for i in np.flatnonzero(np.isfinite(slack)):
        others = np.delete(matrix, i, axis=1)
        gamma = slack[i] + 1
        found.append(float((matrix[:, [i]] - gamma * others).max()))
        if directions is Directions.BOTH:
            found.append(float((others - gamma * matrix[:, [i]]).max()))
    return max(found)


@pytest.mark.parametrize(("directions", "utility"), [(Directions.UPWARD, 0.471814), (Directions.BOTH, 0.375)])
def test_the_papers_example(directions, utility):
    found = general_optimum(FREQUENCY, GAMMA - 1, directions)
    assert found is not None
    assert found.utility == pytest.approx(utility, abs=1e-6)
    assert found.utility == pytest.approx(naive(FREQUENCY, GAMMA - 1, directions), abs=1e-9)
    assert found.utility > record_utility(FREQUENCY, optimal_retention(FREQUENCY, GAMMA - 1, directions)) + 0.03


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("directions", DIRECTIONS)
def test_equals_the_naive_program(directions):
    for seed in range(60):
        rng = np.random.default_rng(seed)
        m = int(rng.integers(2, 7))
        frequency = rng.dirichlet(np.full(m, 10 ** rng.uniform(-1, 1)))
        slack = [np.full(m, 3.0), 10 ** rng.uniform(-2, 3, m), rng.choice([0.5, 4.0, np.inf], m)][seed % 3]
        found = general_optimum(frequency, slack, directions)
        assert found is not None
        assert found.utility == pytest.approx(naive(frequency, slack, directions), abs=1e-8), seed
        assert found.matrix.sum(axis=0) == pytest.approx(np.ones(m), abs=1e-8)
        assert found.matrix.min() >= -1e-9
        assert excess(found.matrix, slack, directions) <= 1e-8
        assert np.diag(found.matrix) @ frequency == pytest.approx(found.utility, abs=1e-9)
        fine = record_utility(frequency, optimal_retention(frequency, slack, directions))
        assert found.utility >= fine - 1e-9


def test_thirty_values():
    rng = np.random.default_rng(2)
    frequency, slack = rng.dirichlet(np.ones(30)), 10 ** rng.uniform(-1, 2, 30)
    found = general_optimum(frequency, slack, Directions.BOTH, seconds=60)
    assert found is not None
    assert excess(found.matrix, slack, Directions.BOTH) <= 1e-8


def test_edges():
    one = general_optimum(np.ones(1), np.array([0.5]), Directions.BOTH)
    free = general_optimum(np.full(3, 1 / 3), np.full(3, np.inf), Directions.BOTH)
    assert one is not None
    assert free is not None
    assert (one.utility, free.utility) == (1.0, pytest.approx(1.0))
    assert free.matrix.tolist() == np.eye(3).tolist()


def test_no_time_no_answer():
    rng = np.random.default_rng(2)
    assert general_optimum(rng.dirichlet(np.ones(30)), 10 ** rng.uniform(-1, 2, 30), Directions.BOTH, 1e-9) is None
