"""The linear algebra of an operator that is a whole matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Positions = npt.NDArray[np.intp]

WORST = 1e8
"""The condition number from which a matrix counts as singular: beyond it rounding alone moves the estimates."""


class SingularMatrixError(ValueError):
    """The matrix has no inverse to rely on: some distributions of the original give one and the same release."""


def condition(transition: npt.ArrayLike) -> float:
    """Return the ratio of the largest to the smallest singular value, inf for a singular matrix."""
    values = np.linalg.svd(np.asarray(transition, dtype=np.float64), compute_uv=False)
    return float(values[0] / values[-1]) if values[-1] > 0 else float("inf")


@dataclass(frozen=True, slots=True, eq=False)
class MatrixChannel:
    """P = R^T and its inverse A, for ``transition`` R of shape (m, m) with rows that sum to 1.

    It has the members of :class:`~ppdm_flow.mining.reconstruction.channel.RetentionChannel` that estimates use.
    ``inverse`` is R^-1 = A^T. All values can be told apart, so ``alike`` is empty; ``rest`` is one value, whose sum is
    itself.
    """

    transition: Floats
    inverse: Floats

    @classmethod
    def of(cls, transition: npt.ArrayLike) -> MatrixChannel:
        """Build it. Raises SingularMatrixError where R has no inverse to rely on, ValueError for no such R."""
        matrix = np.asarray(transition, dtype=np.float64)
        if matrix.ndim != 2 or not len(matrix) or matrix.shape[0] != matrix.shape[1]:
            raise ValueError("a transition matrix is square, over one or more values")
        if not np.all((matrix >= 0) & (matrix <= 1)) or np.abs(matrix.sum(axis=1) - 1.0).max() > 1e-6:
            raise ValueError("the rows of a transition matrix are probabilities that sum to 1")
        if condition(matrix) > WORST:
            raise SingularMatrixError("the matrix cannot be inverted")
        return cls(matrix, np.asarray(np.linalg.inv(matrix), dtype=np.float64))

    @property
    def size(self) -> int:
        """The number m of values."""
        return len(self.transition)

    @property
    def rest(self) -> Positions:
        """A single position."""
        return np.zeros(1, dtype=np.intp)

    @property
    def alike(self) -> Positions:
        """No position."""
        return np.zeros(0, dtype=np.intp)

    def forward(self, counts: Floats) -> Floats:
        """Return P n, the expected released counts; shape (..., m) as ``counts``."""
        expected: Floats = counts @ self.transition
        return expected

    def backward(self, weights: Floats) -> Floats:
        """Return P^T a for shape (..., m)."""
        pulled: Floats = weights @ self.transition.T
        return pulled

    def solve(self, released: Floats) -> Floats:
        """Return A y = n, unbiased; shape (..., m). May be negative."""
        counts: Floats = released @ self.inverse
        return counts

    def variances(self, counts: Floats) -> Floats:
        """Return the diagonal of A diag(P n) A^T - diag(n), shape (..., m)."""
        spread: Floats = np.maximum(self.forward(counts) @ self.inverse**2 - counts, 0.0)
        return spread

    def along(self, counts: Floats) -> Floats:
        """Return sum_k A_jk^2 (P Cov(., j))_k, shape (..., m).

        As P A = 1, P Cov(., j) = mu A_j - n_j P_j for mu = P n, so it is sum_k A_jk^3 mu_k - n_j sum_k A_jk^2 P_kj.
        """
        own = np.einsum("kj,jk->j", self.inverse**2, self.transition)
        moved: Floats = self.forward(counts) @ self.inverse**3 - counts * own
        return moved

    def start(self, unbiased: Floats) -> Floats:
        """Return where the iteration for the greatest likelihood begins: A y, its negative counts cut off.

        Where none is negative it ends there as well. Else every value gets a little, or it could never get more.
        """
        outside = (unbiased < 0).any(axis=-1, keepdims=True)
        cut = np.maximum(unbiased, 0.0)
        little = 1e-3 * cut.sum(axis=-1, keepdims=True) / self.size
        begun: Floats = np.where(outside, cut + little, unbiased)
        return begun
