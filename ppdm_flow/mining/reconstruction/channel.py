"""The linear algebra of a fine-grain operator without its matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Positions = npt.NDArray[np.intp]

NEGLIGIBLE = 1e-12
"""A retention probability below this is zero: no table that could be stored would show it."""


@dataclass(frozen=True, slots=True, eq=False)
class RetentionChannel:
    """P = diag(p) + 1 q^T with q = (1 - p)/m, and its pseudo-inverse A, both applied in O(m).

    Row j of P n = y says p_j n_j + c = y_j, where c = q^T n is the same for every j, and columns of P sum to 1. So
    c = u^T y, n_j = (y_j - c)/p_j for every value but the least retained one, and that has what is left of the total
    (Sherman and Morrison's inverse, written such that one p = 0 does no harm: det P is then
    (1/m) times the product of the other p). Where several values have p = 0, P is singular: only their sum follows
    from y, and they share it equally, which is the solution of least norm.

    ``rest`` are the positions that get what is left: the values with p = 0, else one value with the smallest p.
    ``blend`` is u of shape (m,); ``gain`` is 1/p_j, and 0 for ``rest``.
    """

    retention: Floats
    leave: Floats
    gain: Floats
    blend: Floats
    rest: Positions

    @classmethod
    def of(cls, retention: npt.ArrayLike) -> RetentionChannel:
        """Build it from p of shape (m,), m >= 1, each in [0, 1]. Raises ValueError for anything else."""
        kept = np.array(retention, dtype=np.float64)
        if kept.ndim != 1 or not len(kept) or not np.all((kept >= 0) & (kept <= 1)):
            raise ValueError("retention probabilities are one or more numbers between 0 and 1")
        lost = kept <= NEGLIGIBLE
        kept[lost] = 0.0
        rest = np.flatnonzero(lost) if lost.any() else np.array([int(np.argmin(kept))])
        solved = np.ones(len(kept), dtype=bool)
        solved[rest] = False
        gain = np.divide(1.0, kept, out=np.zeros(len(kept)), where=solved)
        least = float(kept[rest[0]])
        ratio = least * gain
        ratio[rest] = 1.0
        return cls(kept, (1.0 - kept) / len(kept), gain, (ratio - least) / ratio.sum(), rest)

    @property
    def size(self) -> int:
        """The number m of values."""
        return len(self.retention)

    @property
    def alike(self) -> Positions:
        """The positions of values that no release can tell apart; empty unless two or more have p = 0."""
        return self.rest if len(self.rest) > 1 else self.rest[:0]

    def forward(self, counts: Floats) -> Floats:
        """Return P n, the expected released counts; shape (..., m) as ``counts``."""
        expected: Floats = self.retention * counts + (counts @ self.leave)[..., None]
        return expected

    def backward(self, weights: Floats) -> Floats:
        """Return P^T a for shape (..., m)."""
        pulled: Floats = self.retention * weights + self.leave * weights.sum(axis=-1, keepdims=True)
        return pulled

    def solve(self, released: Floats) -> Floats:
        """Return A y = n, unbiased where the values can be told apart; shape (..., m). May be negative."""
        counts: Floats = (released - (released @ self.blend)[..., None]) * self.gain
        left = released.sum(axis=-1) - counts.sum(axis=-1)
        counts[..., self.rest] = (left / len(self.rest))[..., None]
        return counts
