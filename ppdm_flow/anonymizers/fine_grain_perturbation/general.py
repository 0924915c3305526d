"""The best perturbation matrix of any form under the same bounds: what the fine-grain form gives away."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.roles import Directions
from ppdm_flow.mining.linear_program import Rows, minimum

Floats = npt.NDArray[np.float64]

LARGEST = 30
"""Values up to which the program is solved; it has m^2 + 2m unknowns."""
SECONDS = 5.0
_TOLERANCE = 1e-10


@dataclass(frozen=True, slots=True, eq=False)
class General:
    """``matrix`` P[j, i] = Pr[released j | original i], shape (m, m); ``utility`` is sum f_i P[i, i]."""

    matrix: Floats
    utility: float


def general_optimum(
    frequency: Floats, slack: Floats, directions: Directions, seconds: float = SECONDS
) -> General | None:
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
        return General(np.eye(size), float(frequency.sum()))
    cost = np.zeros(size * size + 2 * size)
    cost[np.arange(size) * (size + 1)] = -frequency
    rows = Rows.joined(_ratios(size, bounded, slack[bounded] + 1.0, directions), _column_sums(size))
    solution = minimum(cost, rows, 1.0, seconds=seconds, tolerance=_TOLERANCE)
    if solution is None:
        return None
    matrix = solution[: size * size].reshape(size, size)
    return General(matrix, float(np.diag(matrix) @ frequency))


def _ratios(size: int, bounded: npt.NDArray[np.intp], gamma: Floats, directions: Directions) -> Rows:
    """The rows of a x <= 0; x holds P row by row, then l, then u."""
    every, least = np.arange(size * size), size * size
    row = np.repeat(np.arange(size), len(bounded))
    entry = row * size + np.tile(bounded, size)
    ratio = np.tile(gamma, size)
    one = np.ones(size * size)
    parts = [_below(least + every // size, every, one), _below(entry, least + row, ratio)]
    if directions is Directions.BOTH:
        largest = least + size
        parts += [_below(every, largest + every // size, one), _below(largest + row, entry, ratio)]
    return Rows.joined(*parts)


def _below(low: npt.NDArray[np.intp], high: npt.NDArray[np.intp], ratio: Floats) -> Rows:
    """The rows x[low] - ratio x[high] <= 0."""
    number = len(low)
    values = np.stack([np.ones(number), -ratio], axis=1).ravel()
    columns = np.stack([low, high], axis=1).ravel()
    return Rows(np.full(number, 2, dtype=np.intp), columns, values, np.full(number, -np.inf), np.zeros(number))


def _column_sums(size: int) -> Rows:
    columns = np.arange(size * size).reshape(size, size).T.ravel()
    lengths, one = np.full(size, size, dtype=np.intp), np.ones(size)
    return Rows(lengths, columns, np.ones(size * size), one, one)
