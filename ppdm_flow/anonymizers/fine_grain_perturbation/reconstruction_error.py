"""How far reconstructed frequencies lie from the original ones, on average: the aggregate objective."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

NEGLIGIBLE = 1e-12
"""A retention probability below this is zero: no table that could be stored would show it."""


def expected_error(frequency: Floats, retention: Floats) -> Floats:
    """Return T = trace(A Cov(y) A^T) / n, with A = P^-1 and y the released counts of n records, in O(m).

    So E |A y - n f|^2 = n T given the fixed original table, where Cov(y) = n (diag(P f) - P diag(f) P^T); hence
    T = sum_j (P f)_j |A e_j|^2 - sum f. One p = 0 does no harm; with two, P has no inverse and T is inf.

    Parameters
    ----------
    frequency : f of shape (m,)
    retention : p of shape (..., m)

    Returns
    -------
    T of shape (...).
    """
    if len(frequency) == 1:
        return np.zeros(retention.shape[:-1])
    inverse = _Inverse.of(retention)
    spread = (_released(frequency, retention) * inverse.lengths()).sum(axis=-1) - frequency.sum()
    second = np.partition(retention, 1, axis=-1)[..., 1]
    return np.where(second > NEGLIGIBLE, np.maximum(spread, 0.0), np.inf)


def gradient(frequency: Floats, retention: Floats) -> Floats:
    """Return dT/dp of shape (m,), in O(m), for p with at most one zero.

    dP = (e_i - 1/m) e_i^T dp_i and dA = -A dP A give dT/dp_i = f_i (|A e_i|^2 - mean |A e|^2) - 2 z_i^T K e_i with
    z_i = A (e_i - 1/m) = w_i (e_i - w/R) and K = A diag(P f) A^T, whose columns sum to f.
    """
    inverse = _Inverse.of(retention)
    w, u, last = inverse.gain, inverse.blend, int(inverse.last[0])
    least, scale = float(retention[last]), float(inverse.scale[0])
    released = _released(frequency, retention)
    moved = released * u
    common = float(moved @ u) - moved
    own = w * w * (released - moved + common)  # K_ii
    columns = w * (w * released - float(w @ moved) + w.sum() * common)  # sum of K_ki over k != last
    weighted = w * (w * w * released - float((w * w) @ moved) + float(w @ w) * common)  # the same of w_k K_ki
    rest = frequency - columns  # K_ki with k = last
    rest[last] = 0.0
    pulled = w * (own - least / scale * weighted - rest / scale)
    pulled[last] = (w.sum() * (frequency[last] - rest.sum()) - float(w @ rest)) / scale
    lengths = inverse.lengths()
    result: Floats = frequency * (lengths - lengths.mean()) - 2.0 * pulled
    return result


@dataclass(frozen=True, slots=True, eq=False)
class _Inverse:
    """A = P^-1 by Sherman and Morrison: n_j = w_j (y_j - u^T y) for all j but ``last``, which has what is left.

    w = 1/p, R = sum w, u = (w - 1)/R. ``last`` has the smallest p; ``gain`` is w with 0 there, ``scale`` p_last R.
    Shapes (..., m), and (..., 1) of ``last`` and ``scale``.
    """

    gain: Floats
    blend: Floats
    last: npt.NDArray[np.intp]
    scale: Floats

    @classmethod
    def of(cls, retention: Floats) -> _Inverse:
        last = np.argmin(retention, axis=-1)[..., None]
        least = np.take_along_axis(retention, last, axis=-1)
        gain = 1.0 / np.maximum(retention, NEGLIGIBLE)
        np.put_along_axis(gain, last, 0.0, axis=-1)
        ratio = least * gain
        np.put_along_axis(ratio, last, 1.0, axis=-1)
        scale = ratio.sum(axis=-1, keepdims=True)
        return cls(gain, (ratio - least) / scale, last, scale)

    def lengths(self) -> Floats:
        """|A e_j|^2 for every j."""
        w, u = self.gain, self.blend
        remainder = u * w.sum(axis=-1, keepdims=True) - w + 1.0
        squares: Floats = w * w * (1.0 - 2.0 * u) + u * u * (w * w).sum(axis=-1, keepdims=True) + remainder**2
        return squares


def _released(frequency: Floats, retention: Floats) -> Floats:
    """P f."""
    common = ((1.0 - retention) @ frequency)[..., None] / len(frequency)
    expected: Floats = retention * frequency + common
    return expected
