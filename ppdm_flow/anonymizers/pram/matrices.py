"""Transition matrices: stated ones, those that retain a share, invariant ones, and the best ones under bounds.

R[i, j] = Pr[released j | original i]; rows sum to 1.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.anonymizers.fine_grain_perturbation.general import general_optimum
from ppdm_flow.anonymizers.pram.stated import Rows
from ppdm_flow.core.roles import Directions

Floats = npt.NDArray[np.float64]

GRID = 2.0**53
"""Probabilities are whole multiples of 1 / GRID: then what is published is what is drawn, to the last digit."""

SECONDS = 60.0

_NOTHING = 1e-12


def of_rows(rows: Rows, domain: tuple[str | None, ...]) -> Floats:
    """Return the matrix over ``domain`` of the rows of a policy or a file; a value without a row stays as it is."""
    place = {value: i for i, value in enumerate(domain)}
    matrix = np.eye(len(domain))
    for value, row in rows.items():
        matrix[place[value]] = 0.0
        for released, probability in row.items():
            matrix[place[value], place[released]] = probability
    return matrix


def retaining(retain: float, size: int, frequency: Floats | None = None) -> Floats:
    """Return the matrix with ``retain`` on its diagonal and the rest of each row spread over the other values.

    Evenly, or in proportion to their ``frequency`` (m,); a value that has all rows has nobody to be spread over, and
    is spread evenly.
    """
    if size == 1:
        return np.ones((1, 1))
    weight = np.ones((size, size)) if frequency is None else np.tile(frequency, (size, 1))
    np.fill_diagonal(weight, 0.0)
    none = weight.sum(axis=1) <= 0.0
    weight[none] = 1.0
    weight[none, none.nonzero()[0]] = 0.0
    matrix: Floats = (1.0 - retain) * weight / weight.sum(axis=1, keepdims=True)
    np.fill_diagonal(matrix, retain)
    return matrix


def invariant(base: Floats, frequency: Floats) -> Floats:
    """Return R = B Q with f R = f for the shares f (m,), by two steps through the matrix B.

    Q[j, k] = f_k B[k, j] / (f B)_j leads back: of those that B turns into j, the share that were k (Gouweleeuw,
    Kooiman, Willenborg and de Wolf 1998, section 4). A value that B never makes stays as it is under Q.
    """
    reached = frequency @ base
    joint = (frequency[:, None] * base).T
    back = np.eye(len(base))
    shown = reached > 0
    back[shown] = joint[shown] / reached[shown, None]
    matrix: Floats = base @ back
    return matrix


def general(frequency: Floats, slack: Floats, directions: Directions) -> Floats | None:
    """Return the matrix of greatest record utility within the bounds, None where it is not found in time.

    What the solver leaves of a violation is taken out by mixing with the even matrix, which has all the slack that
    there is: for a violation v of R[i, j] <= gamma R[k, j] a share v / (v + (gamma - 1) / m) of it suffices.
    """
    optimum = general_optimum(frequency, slack, directions, SECONDS)
    if optimum is None:
        return None
    matrix = np.maximum(optimum.matrix.T, 0.0)
    matrix /= matrix.sum(axis=1, keepdims=True)
    share = 0.0
    for i in np.flatnonzero(np.isfinite(slack)):
        gamma = 1.0 + slack[i]
        over = float((matrix[i] - gamma * matrix.min(axis=0)).max())
        if directions is Directions.BOTH:
            over = max(over, float((matrix.max(axis=0) - gamma * matrix[i]).max()))
        if over > 0.0:
            share = max(share, over / (over + float(slack[i]) / len(matrix)))
    mixed: Floats = (1.0 - share) * matrix + share / len(matrix)
    return mixed


def within_posterior(frequency: Floats, bound: float) -> Floats:
    """Return the matrix of greatest record utility under which no posterior exceeds ``bound``, which is that utility.

    The posterior is that of one whose prior is ``frequency`` itself: f_i R[i, j] / r_j with r = f R. Record utility is
    sum_j f_j R[j, j] <= bound sum_j r_j = bound for any matrix at all. It reaches that where a released j means j with
    probability ``bound``, and any other value in proportion to its frequency; then r_j is proportional to
    f_j (1 - f_j) / (bound - f_j), and the matrix has an inverse. So it is what the linear program over all matrices
    comes to, for each bound (the question of Huang, Du, "OptRR", ICDE 2008, who search by a genetic algorithm). As
    R[i, j] is the same for all i but j, the bound holds for every prior that gives j no more than f_j.

    Parameters
    ----------
    frequency : f >= 0 of shape (m,) with sum 1
    bound : below 1, and no less than the largest f: no matrix hides a value that is more frequent
    """
    gap = bound - frequency
    if gap.min() <= _NOTHING:  # the bound is the share of the most frequent value: nothing but it is released
        weight = np.where(gap <= _NOTHING, 1.0, 0.0)
        return np.tile(weight / weight.sum(), (len(gap), 1))
    ratio = (1.0 - frequency) / gap
    ratio /= frequency @ ratio  # r / f
    drawn = (1.0 - bound) * frequency * ratio / (1.0 - frequency)
    matrix: Floats = np.tile(drawn, (len(gap), 1))
    np.fill_diagonal(matrix, bound * ratio)
    return matrix


def on_grid(matrix: Floats) -> Floats:
    """Return the matrix with entries on the grid and rows that sum to exactly 1; the largest entry takes the rest.

    An entry moves by less than 2^-53, the largest of a row by at most m times that.
    """
    whole = np.floor(matrix / matrix.sum(axis=1, keepdims=True) * GRID).astype(np.int64)
    row = np.arange(len(whole))
    largest = whole.argmax(axis=1)
    whole[row, largest] += int(GRID) - whole.sum(axis=1)
    rounded: Floats = whole / GRID
    return rounded
