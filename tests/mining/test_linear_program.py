"""Linear programs against scipy's own HiGHS: random ones, and those without a solution."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from tiers import examples

from ppdm_flow.mining.linear_program import Rows, minimum


@examples(45)
@given(seed=st.integers(0, 2**32 - 1), unknowns=st.integers(1, 8), bounds=st.integers(0, 8), equal=st.integers(0, 2))
def test_least_cost_as_scipys(seed, unknowns, bounds, equal):
    rng = np.random.default_rng(seed)
    cost = rng.normal(size=unknowns)
    below, limits = rng.integers(-3, 4, (bounds, unknowns)).astype(float), rng.normal(size=bounds)
    same, sums = rng.integers(-2, 3, (equal, unknowns)).astype(float), rng.normal(size=equal)
    upper = [1.0, 5.0, np.inf][seed % 3]
    rows = Rows.joined(
        Rows(*_sparse(below), np.full(bounds, -np.inf), limits),
        Rows(*_sparse(same), sums, sums),
    )
    expected = linprog(
        cost,
        A_ub=below if bounds else None,
        b_ub=limits if bounds else None,
        A_eq=same if equal else None,
        b_eq=sums if equal else None,
        bounds=(0, None if np.isinf(upper) else upper),
    )
    solution = minimum(cost, rows, upper)
    assert (solution is None) == (not expected.success)
    if solution is not None:
        assert cost @ solution == pytest.approx(expected.fun, abs=1e-6)
        assert ((solution >= -1e-7) & (solution <= upper + 1e-7)).all()
        assert (below @ solution <= limits + 1e-6).all()
        assert same @ solution == pytest.approx(sums, abs=1e-6)


def _sparse(matrix):
    """Entries that are not 0, row by row; a row without any has length 0."""
    mask = matrix != 0
    return mask.sum(axis=1).astype(np.intp), np.nonzero(mask)[1], matrix[mask]


def test_dense_rows_keep_their_zeros():
    matrix = np.array([[1.0, 0.0], [2.0, 3.0]])
    rows = Rows.dense(matrix, -1.0, 4.0)
    assert rows.lengths.tolist() == [2, 2]
    assert rows.columns.tolist() == [0, 1, 0, 1]
    assert rows.values.tolist() == [1, 0, 2, 3]
    assert (rows.low.tolist(), rows.high.tolist()) == ([-1, -1], [4, 4])


def test_without_a_solution():
    one = np.ones((1, 1))
    impossible = Rows.dense(one, 2.0, 2.0)
    assert minimum(np.ones(1), impossible, 1.0) is None
    assert minimum(-np.ones(1), Rows.dense(one, 0.0, np.inf)) is None  # as low as one likes
    assert minimum(np.ones(1), impossible, 2.0) == pytest.approx(np.array([2.0]))


def test_the_same_program_has_the_same_solution():
    rng = np.random.default_rng(7)
    rows = Rows.dense(rng.random((40, 60)), 1.0, np.inf)
    cost = rng.random(60)
    first, second = minimum(cost, rows), minimum(cost, rows)
    assert first is not None
    assert second is not None
    assert first.tobytes() == second.tobytes()


def test_nothing_is_printed_by_the_first_program_of_a_process():
    program = "import numpy as np; from ppdm_flow.mining.linear_program import Rows, minimum; "
    program += "assert minimum(np.ones(2), Rows.dense(np.ones((1, 2)), 1.0, 1.0)).sum() == 1.0"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert (ended.stdout, ended.stderr) == (b"", b"")
