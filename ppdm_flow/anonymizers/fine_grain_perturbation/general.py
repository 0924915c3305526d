"""The best perturbation matrix of any form under the same bounds: what the fine-grain form gives away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.optimize import linprog

from ppdm_flow.core.roles import Directions

Floats = npt.NDArray[np.float64]

LARGEST = 30
"""Values up to which the program is solved; it has m^2 + 2m unknowns."""
SECONDS = 5.0
_TOLERANCE = 1e-10


@dataclass(frozen=True, slots=True, eq=False)
class GeneralOperator:
    """``matrix`` P[j, i] = Pr[released j | original i], shape (m, m); ``utility`` is sum f_i P[i, i]."""

    matrix: Floats
    utility: float


def general_optimum(
    frequency: Floats, slack: Floats, directions: Directions, seconds: float = SECONDS
) -> GeneralOperator | None:
    """Return the column-stochastic P of greatest record utility, or None if ``seconds`` do not suffice.

    For all j and all k != i: P[j, i] <= gamma_i P[j, k] (upward) and P[j, k] <= gamma_i P[j, i] (downward). As
    gamma_i > 1, k = i may be included, so that only the least and the largest entry of each row matter. With l_j and
    u_j for these, m^3 rows become 2 m^2 for each direction: l_j <= P[j, k], P[j, i] <= gamma_i l_j, P[j, k] <= u_j,
    u_j <= gamma_i P[j, i].

    Parameters
    ----------
    frequency : f >= 0 of shape (m,)
    slack : gamma - 1 > 0 of shape (m,), inf for a value without a bound
    """
    size = len(frequency)
    bounded = np.flatnonzero(np.isfinite(slack))
    if size == 1 or not len(bounded):
        return GeneralOperator(np.eye(size), float(frequency.sum()))
    cost = np.zeros(size * size + 2 * size)
    cost[np.arange(size) * (size + 1)] = -frequency
    ratios = _ratios(size, bounded, slack[bounded] + 1.0, directions)
    done = linprog(
        cost,
        A_ub=ratios,
        b_ub=np.zeros(ratios.shape[0]),
        A_eq=_column_sums(size),
        b_eq=np.ones(size),
        bounds=(0.0, 1.0),
        options={
            "time_limit": seconds,
            "primal_feasibility_tolerance": _TOLERANCE,
            "dual_feasibility_tolerance": _TOLERANCE,
        },
    )
    if done.x is None or done.status != 0:
        return None
    matrix = done.x[: size * size].reshape(size, size)
    return GeneralOperator(matrix, float(np.diag(matrix) @ frequency))


def _ratios(size: int, bounded: npt.NDArray[np.intp], gamma: Floats, directions: Directions) -> Any:
    """The rows of a x <= 0; x holds P row by row, then l, then u."""
    every, least = np.arange(size * size), size * size
    row = np.repeat(np.arange(size), len(bounded))
    entry = row * size + np.tile(bounded, size)
    ratio = np.tile(gamma, size)
    one = np.ones(size * size)
    parts = [(least + every // size, every, one), (entry, least + row, ratio)]
    if directions is Directions.BOTH:
        largest = least + size
        parts += [(every, largest + every // size, one), (largest + row, entry, ratio)]
    low, high, times = map(np.concatenate, zip(*parts, strict=True))
    number = np.arange(len(low))
    places = np.concatenate([number, number]), np.concatenate([low, high])
    unknowns = size * size + 2 * size
    return sparse.csr_array((np.concatenate([np.ones(len(low)), -times]), places), shape=(len(low), unknowns))


def _column_sums(size: int) -> Any:
    """The rows of a x = 1."""
    every = np.arange(size * size)
    return sparse.csr_array((np.ones(size * size), (every % size, every)), shape=(size, size * size + 2 * size))
