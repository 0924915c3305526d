"""The nearest counts that could be: none negative, with the known total."""

from __future__ import annotations

import numpy as np

from ppdm_flow.mining.reconstruction.channel import Floats


def project(values: Floats, total: Floats, variance: Floats | None = None) -> Floats:
    """Return x >= 0 with sum N that minimizes sum_j (x_j - v_j)^2 / s_j, in O(m log m).

    x_j = max(0, v_j - t s_j); t follows from the values in descending order of v_j / s_j (for equal s it is the
    Euclidean projection of Held, Wolfe and Crowder, 1974). With s the variances of the estimates, what is known well
    moves little.

    Parameters
    ----------
    values : v of shape (..., m)
    total : N >= 0 of shape (...)
    variance : s of shape (..., m), not negative; equal ones if None
    """
    spread = np.ones_like(values) if variance is None else _positive(variance)
    order = np.argsort(-values / spread, axis=-1)
    ordered = np.take_along_axis(values, order, axis=-1)
    widths = np.take_along_axis(spread, order, axis=-1)
    shift = (np.cumsum(ordered, axis=-1) - total[..., None]) / np.cumsum(widths, axis=-1)
    within = ordered > shift * widths
    last = values.shape[-1] - 1 - np.argmax(within[..., ::-1], axis=-1)
    chosen = np.take_along_axis(shift, last[..., None], axis=-1)
    return np.asarray(np.where(total[..., None] > 0, np.maximum(values - chosen * spread, 0.0), 0.0))


def _positive(variance: Floats) -> Floats:
    """Keep exactly known values from dividing by zero; they move by nothing that shows."""
    return np.asarray(np.maximum(variance, 1e-9 * (1.0 + variance.max(axis=-1, keepdims=True))))
