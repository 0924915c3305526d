"""The second route to the worst posteriors: every entry of P, in fractions or by blocks of rows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

FRACTIONS = 60
"""The number of values up to which every entry is a fraction."""
_ENTRIES = 4_000_000
_LARGEST = 700.0
"""The logarithm of the largest odds that are told from infinite ones."""

Bound = tuple[float, float] | None


def brute_posteriors(retention: Sequence[float], bounds: Sequence[Bound]) -> tuple[list[float], list[float]]:
    """Return the highest posteriors from r1 and the lowest from r2 over all released j and other values k.

    ``bounds`` are (r1, r2) or None for each value; a value without has nan.
    """
    if len(retention) == 1:
        return [b[0] if b else math.nan for b in bounds], [b[1] if b else math.nan for b in bounds]
    return _fractions(retention, bounds) if len(retention) <= FRACTIONS else _blocks(retention, bounds)


def brute_posteriors_of_matrix(
    matrix: Sequence[Sequence[float]], bounds: Sequence[Bound]
) -> tuple[list[float], list[float]]:
    """Return the same for a matrix of any form, ``matrix[j][i]`` = Pr[released j | original i]."""
    if len(matrix) == 1:
        return [b[0] if b else math.nan for b in bounds], [b[1] if b else math.nan for b in bounds]
    if len(matrix) <= FRACTIONS:
        return _over_entries([[Fraction(p) for p in row] for row in matrix], bounds)
    return _columns(np.asarray(matrix, dtype=np.float64), bounds)


def brute_joint(matrix: Iterable[Floats], bounds: Sequence[Bound], per_person: int) -> tuple[list[float], list[float]]:
    """Return the same for ``per_person`` draws: the largest ratio of two entries of a row, once for each of them.

    ``matrix`` yields the rows of P, each over all original values.
    """
    worst = 1.0
    for row in matrix:
        least, most = float(row.min()), float(row.max())
        if most > 0.0:
            worst = max(worst, most / least if least > 0.0 else math.inf)
    odds = math.inf if worst == math.inf or per_person * math.log(worst) > _LARGEST else worst**per_person
    upward, downward = [], []
    for bound in bounds:
        low, high = bound or (math.nan, math.nan)
        upward.append(math.nan if bound is None else _raised(low / (1.0 - low) * odds))
        downward.append(math.nan if bound is None else _raised(high / (1.0 - high) / odds))
    return upward, downward


def _raised(odds: float) -> float:
    return 1.0 if odds == math.inf else odds / (1.0 + odds)


def _columns(matrix: Floats, bounds: Sequence[Bound]) -> tuple[list[float], list[float]]:
    """Look at a value at a time, with the column of every other one beside its own."""
    upward, downward = [math.nan] * len(matrix), [math.nan] * len(matrix)
    for i, bound in enumerate(bounds):
        if bound is not None:
            own, others = matrix[:, i], np.delete(matrix, i, axis=1)
            upward[i] = float(_best(np.float64(bound[0]), own, others.min(axis=1)).max())
            downward[i] = float(_best(np.float64(bound[1]), own, others.max(axis=1)).min())
    return upward, downward


def _fractions(retention: Sequence[float], bounds: Sequence[Bound]) -> tuple[list[float], list[float]]:
    m = len(retention)
    kept = [Fraction(p) for p in retention]
    return _over_entries([[(kept[i] if i == j else 0) + (1 - kept[i]) / m for i in range(m)] for j in range(m)], bounds)


def _over_entries(matrix: Sequence[list[Fraction]], bounds: Sequence[Bound]) -> tuple[list[float], list[float]]:
    m = len(matrix)
    upward, downward = [math.nan] * m, [math.nan] * m
    for i, bound in enumerate(bounds):
        if bound is None:
            continue
        low, high = Fraction(bound[0]), Fraction(bound[1])
        rises, falls = [], []
        for row in matrix:
            others = row[:i] + row[i + 1 :]
            rises.append(_posterior(low, row[i], min(others)))
            falls.append(_posterior(high, row[i], max(others)))
        upward[i], downward[i] = float(max(rises)), float(min(falls))
    return upward, downward


def _posterior(prior: Fraction, own: Fraction, other: Fraction) -> Fraction:
    marginal = prior * own + (1 - prior) * other
    return prior * own / marginal if marginal else prior


def _blocks(retention: Sequence[float], bounds: Sequence[Bound]) -> tuple[list[float], list[float]]:
    m = len(retention)
    kept = np.asarray(retention, dtype=np.float64)
    r1 = np.array([b[0] if b else np.nan for b in bounds])
    r2 = np.array([b[1] if b else np.nan for b in bounds])
    upward, downward = np.full(m, -np.inf), np.full(m, np.inf)
    size = max(1, _ENTRIES // m)
    for start in range(0, m, size):
        rows = np.arange(start, min(start + size, m))
        block = np.tile((1.0 - kept) / m, (len(rows), 1))
        block[np.arange(len(rows)), rows] += kept[rows]
        least, most = np.sort(block, axis=1)[:, [0, 1]], np.sort(block, axis=1)[:, [-1, -2]]
        low = np.where(block == least[:, :1], least[:, 1:], least[:, :1])
        high = np.where(block == most[:, :1], most[:, 1:], most[:, :1])
        upward = np.fmax(upward, _best(r1, block, low).max(axis=0))
        downward = np.fmin(downward, _best(r2, block, high).min(axis=0))
    unbound = np.isnan(r1)
    upward[unbound] = downward[unbound] = np.nan
    return upward.tolist(), downward.tolist()


def _best(prior: Floats | np.float64, own: Floats, other: Floats) -> Floats:
    marginal = prior * own + (1 - prior) * other
    with np.errstate(invalid="ignore", divide="ignore"):
        posterior: Floats = np.where(marginal == 0, prior, prior * own / marginal)
    return posterior
