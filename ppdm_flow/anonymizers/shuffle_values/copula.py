"""The Gaussian copula of some columns, and draws of some of them given the others.

Source: Muralidhar, Sarathy, Data shuffling: a new masking approach for numerical data, Management Science 52(5), 2006.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

Floats = npt.NDArray[np.float64]
_LEAST_EIGENVALUE = 1e-9
_LEAST_TOLD = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class CopulaVariable:
    """A column as the copula sees it: ``values`` of shape (rows,), NaN where missing; ``dummy``: 0 or 1, unranked."""

    values: Floats
    dummy: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class ConditionalNormal:
    """Y = S slopes + e loadings' for standard scores S of shape (rows, m) and standard normal e of shape (rows, d).

    ``slopes`` of shape (m, d), ``loadings`` lower triangular of shape (d, d); ``explained`` of shape (d,) is the share
    of each variance that S determines, in [0, 1].
    """

    slopes: Floats
    loadings: Floats
    explained: Floats


def midranks(values: Floats) -> Floats:
    """Return ranks from 1; equal numbers share the mean of their ranks. NaN is not allowed."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: Floats = (np.cumsum(counts) - (counts - 1) / 2.0)[place]
    return ranks


def pearson(x: Floats, y: Floats) -> float:
    """Return the correlation of two columns without NaN; 0 where one of them does not vary."""
    if len(x) < 2:
        return 0.0
    x, y = x - x.mean(), y - y.mean()
    size = float(np.sqrt((x * x).sum()) * np.sqrt((y * y).sum()))
    return max(-1.0, min(1.0, float((x * y).sum()) / size)) if 0.0 < size < np.inf else 0.0


def spearman(x: Floats, y: Floats) -> float:
    """Return the rank correlation over the rows that have both numbers; 0 where one of them does not vary."""
    both = ~(np.isnan(x) | np.isnan(y))
    return pearson(midranks(x[both]), midranks(y[both]))


def scores(variable: CopulaVariable) -> Floats:
    """Return scores of mean 0 and variance 1, shape (rows,): of ranks the normal ones; 0 for missing cells.

    A column that does not vary has zeros.
    """
    out = np.zeros(len(variable.values))
    there = ~np.isnan(variable.values)
    own = variable.values[there]
    if not variable.dummy:
        own = special.ndtri(midranks(own) / (len(own) + 1.0))
    own = own - own.mean() if len(own) else own
    spread = float(np.sqrt((own * own).mean())) if len(own) else 0.0
    out[there] = own / spread if spread > 1e-12 else 0.0
    return out


def correlations(variables: Sequence[CopulaVariable]) -> Floats:
    """Return the correlation matrix of the copula, shape (d, d), over the rows that have both cells of a pair.

    Two ranked columns have 2 sin(pi r / 6) for their rank correlation r (Muralidhar and Sarathy, section 4); a dummy
    has the correlation with the scores. A matrix that is none (after rounding, pairs with gaps) is mended.
    """
    size = len(variables)
    standard = [scores(v) for v in variables]
    matrix = np.eye(size)
    for i in range(size):
        for j in range(i):
            x, y = variables[i], variables[j]
            if x.dummy or y.dummy:
                both = ~(np.isnan(x.values) | np.isnan(y.values))
                value = pearson(standard[i][both], standard[j][both])
            else:
                value = 2.0 * np.sin(np.pi / 6.0 * spearman(x.values, y.values))
            matrix[i, j] = matrix[j, i] = value
    return mended(matrix)


def mended(matrix: Floats) -> Floats:
    """Return the matrix with eigenvalues of at least 1e-9, and of the size of the most negative one; diagonal 1.

    A direction whose variance came out as -0.1 may have that of 0.1: as a tiny one, it would get slopes that are huge.
    """
    if not len(matrix):
        return matrix
    values, vectors = np.linalg.eigh(matrix)
    if values[0] >= _LEAST_EIGENVALUE:
        return matrix
    raised: Floats = (vectors * np.maximum(values, max(_LEAST_EIGENVALUE, -values[0]))) @ vectors.T
    scale = np.sqrt(np.diag(raised))
    scaled: Floats = raised / np.outer(scale, scale)
    return scaled


def conditional(matrix: Floats, drawn: int) -> ConditionalNormal:
    """Return how the first ``drawn`` variables of a correlation matrix depend on the others (normal distribution).

    Directions of the others that do not vary tell nothing.
    """
    own, across, others = matrix[:drawn, :drawn], matrix[drawn:, :drawn], matrix[drawn:, drawn:]
    slopes: Floats = np.linalg.pinv(others, rcond=_LEAST_TOLD, hermitian=True) @ across if len(others) else across
    rest: Floats = own - across.T @ slopes
    explained = np.clip(1.0 - np.diag(rest), 0.0, 1.0)
    loadings: Floats = np.linalg.cholesky(_positive(rest)).astype(np.float64)
    return ConditionalNormal(slopes, loadings, explained)


def _positive(matrix: Floats) -> Floats:
    """Return a covariance matrix that has a Cholesky factor: rounding may have left eigenvalues below zero."""
    values, vectors = np.linalg.eigh(matrix)
    if values[0] >= 1e-12:
        return matrix
    raised: Floats = (vectors * np.maximum(values, 1e-12)) @ vectors.T
    return (raised + raised.T) / 2.0


def drawn_scores(given: Sequence[Floats], noise: Floats, model: ConditionalNormal) -> Floats:
    """Return Y, shape (rows, d), term by term, so that equal rows have equal sums."""
    out = np.zeros(noise.shape)
    for j in range(noise.shape[1]):
        for i, score in enumerate(given):
            out[:, j] += model.slopes[i, j] * score
        for k in range(j + 1):
            out[:, j] += model.loadings[j, k] * noise[:, k]
    return out
