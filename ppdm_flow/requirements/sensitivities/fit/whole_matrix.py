"""Whether released cells follow a transition matrix of any form.

Given the original values, rows are independent: value i becomes j with probability R[i, j].
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.requirements.sensitivities.fit.joint import JointCounts
from ppdm_flow.requirements.sensitivities.fit.tails import (
    ENOUGH,
    ENOUGH_VARIANCE,
    bennett,
    binomial,
    chi_square,
    fisher,
    smallest,
)

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_NOTHING = 1e-9
"""A direction whose share of the largest variance is less than this is taken for one that does not vary."""


def joint_fit(transition: Floats, joint: JointCounts) -> float:
    """Return the probability of pairs as unlikely as these, under the matrix; Bonferroni over five tests.

    Exact binomial tests of every cell, and of how often each value stays (Fisher's method over all); Bennett's bound
    for all that stay, and for how often each value is released; chi-square over the cells with enough rows.
    """
    size = len(transition)
    counts = np.zeros((size, size), dtype=np.int64)
    np.add.at(counts, (joint.original, joint.released), joint.rows)
    trials = counts.sum(axis=1)
    occurs = trials > 0
    cells = binomial(counts[occurs], trials[occurs, None], transition[occurs])
    stay = np.diagonal(transition)
    stayed = np.diagonal(counts) - trials * stay
    spread = transition * (1.0 - transition)
    off = counts.sum(axis=0) - trials @ transition
    tests = [
        smallest(cells.ravel()),
        fisher(np.diagonal(binomial(counts, np.maximum(trials, 0)[:, None], transition))[occurs]),
        float(bennett(stayed.sum(), float(trials @ np.diagonal(spread)))),
        smallest(bennett(off, trials @ spread)),
        chi_square(*_pearson(counts, trials, transition)),
    ]
    return smallest(np.array(tests))


def _pearson(counts: Integers, trials: Integers, transition: Floats) -> tuple[float, int]:
    """Return the statistic over cells with enough expected rows, and its degrees of freedom.

    The other cells of a row are one cell together; it joins the least of the large ones where it is too small.
    """
    expected = trials[:, None] * transition
    large = expected >= ENOUGH
    statistic, freedom = 0.0, 0
    for row in np.flatnonzero(large.any(axis=1)):
        mine = np.append(expected[row, large[row]], expected[row, ~large[row]].sum())
        seen = np.append(counts[row, large[row]], counts[row, ~large[row]].sum()).astype(np.float64)
        if mine[-1] < ENOUGH:
            least = int(mine[:-1].argmin())
            mine[least] += mine[-1]
            seen[least] += seen[-1]
            mine, seen = mine[:-1], seen[:-1]
        statistic += float(((seen - mine) ** 2 / mine).sum())
        freedom += len(mine) - 1
    return statistic, freedom


def marginal_fit(transition: Floats, original: Integers, released: Integers) -> float:
    """Return the probability of released counts as unlikely as these, where rows cannot be paired.

    Their mean is n R, their covariance sum_i n_i (diag(R_i) - R_i R_i^T); where fewer rows were released than the
    operator got, they are taken as a simple random sample of them. Bennett's bound for each value; chi-square over
    values that vary enough, in the directions in which they vary. Raises ValueError where more rows were released than
    the operator got.
    """
    before, after = int(original.sum()), int(released.sum())
    if after > before:
        raise ValueError("more rows released than there were")
    if before == 0 or after == 0:
        return 1.0
    share = original @ transition / before
    deviation = released - after * share
    covariance = _covariance(transition, original, after)
    own = np.maximum(np.diagonal(covariance), 0.0) if after == before else after * share * (1.0 - share)
    tests = [smallest(bennett(deviation, own)), _together(covariance, deviation, own >= ENOUGH_VARIANCE)]
    return smallest(np.array(tests))


def _covariance(transition: Floats, original: Integers, after: int) -> Floats:
    before = int(original.sum())
    expected = original @ transition
    share = expected / before
    drawn = after * (before - after) / max(1, before - 1)  # hypergeometric factor of a sample, 0 for all rows
    scale = (after * after - drawn) / (before * before)
    whole = np.diag(expected) - transition.T @ (original[:, None] * transition)
    covariance: Floats = scale * whole + drawn * (np.diag(share) - np.outer(share, share))
    return covariance


def _together(covariance: Floats, deviation: Floats, enough: npt.NDArray[np.bool_]) -> float:
    cells = np.flatnonzero(enough)
    if not len(cells):
        return 1.0
    scale = np.sqrt(np.diagonal(covariance)[cells])
    some = covariance[np.ix_(cells, cells)] / np.outer(scale, scale)
    values, vectors = np.linalg.eigh(some)
    varies = values > _NOTHING * values[-1]
    along = vectors[:, varies].T @ (deviation[cells] / scale)
    return chi_square(float((along**2 / values[varies]).sum()), int(varies.sum()))
