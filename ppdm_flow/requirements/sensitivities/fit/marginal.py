"""Whether released frequencies follow the operator, where rows cannot be paired.

Given the original counts n, the released counts have mean P n and covariance sum of n_i (diag(P_i) - P_i P_i^T).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.requirements.sensitivities.fit.tails import ENOUGH_VARIANCE, bennett, chi_square, smallest

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Chosen = npt.NDArray[np.bool_]


def marginal_fit(retention: Floats, original: Integers, released: Integers) -> float:
    """Return the probability of released counts as unlikely as these; Bonferroni over two tests.

    Where fewer rows were released than the operator got, they are taken as a simple random sample of them.
    Bennett's bound for each value; chi-square with the covariance above over values that vary enough.
    Raises ValueError where more rows were released than the operator got.
    """
    before, after = int(original.sum()), int(released.sum())
    if after > before:
        raise ValueError("more rows released than there were")
    if before == 0 or after == 0:
        return 1.0
    leave = (1.0 - retention) / len(retention)
    expected = retention * original + float(leave @ original)
    share = expected / before
    deviation = released - after * share
    own = _own_variance(retention, leave, original) if after == before else after * share * (1.0 - share)
    tests = [smallest(bennett(deviation, np.maximum(own, 0.0)))]
    if leave @ original > 0:
        tests.append(_together(retention, leave, original, deviation, after, own >= ENOUGH_VARIANCE))
    return smallest(np.array(tests))


def _own_variance(retention: Floats, leave: Floats, original: Integers) -> Floats:
    """Return the variance of each released count: sum over i of n_i P_ji (1 - P_ji)."""
    keep = retention + leave
    others = float((original * leave * (1.0 - leave)).sum()) - original * leave * (1.0 - leave)
    return others + original * keep * (1.0 - keep)


def _together(
    retention: Floats, leave: Floats, original: Integers, deviation: Floats, after: int, enough: Chosen
) -> float:
    """Return the chi-square tail of the cells that vary enough but the largest, which follows from the others.

    The covariance is diagonal less a matrix of rank two, or of rank three for a sample (Woodbury's identity).
    """
    before = int(original.sum())
    expected = retention * original + float(leave @ original)
    share = expected / before
    cells = np.flatnonzero(enough)
    cells = cells[cells != expected.argmax()]
    if len(cells) == 0:
        return 1.0
    drawn = after * (before - after) / max(1, before - 1)  # hypergeometric factor of a sample, 0 for all rows
    scale = (after * after - drawn) / (before * before)
    diagonal = scale * (expected - retention**2 * original) + drawn * share
    crossed = np.stack([retention * original * leave, np.ones(len(leave)), share], axis=1)[cells]
    spread = float((original * leave**2).sum())
    inverse = np.array([[-spread, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]) / scale
    if drawn > 0:
        inverse[2, 2] = 1.0 / drawn
    else:
        crossed, inverse = crossed[:, :2], inverse[:2, :2]
    return chi_square(_quadratic(deviation[cells], diagonal[cells], crossed, inverse), len(cells))


def _quadratic(deviation: Floats, diagonal: Floats, crossed: Floats, inverse: Floats) -> float:
    """Return x^T (D - U K U^T)^-1 x from D, U and K^-1."""
    scaled = deviation / diagonal
    projected = crossed.T @ scaled
    inner = inverse - crossed.T @ (crossed / diagonal[:, None])
    return float(deviation @ scaled + projected @ np.linalg.solve(inner, projected))
