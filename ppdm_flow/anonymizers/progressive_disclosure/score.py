"""What disclosing a value is worth: InfoGain / (PrivLoss + 1) (Wang, Fung, Yu, ICDM 2005, section 4)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

NEGLIGIBLE = 1e-12
"""Bits: a gain below this is none, and scores that differ by less are tied. Rounding stays far below it."""


def information_gain(values: Floats, suppressed: Floats) -> Floats:
    """Return what each value's disclosure tells of the class, in bits, shape (values,).

    ``values`` (values, classes) are the rows with each value, ``suppressed`` (classes,) all rows that are suppressed
    in this attribute: I(suppressed) - share I(value) - (1 - share) I(rest).

    >>> cook, everybody = np.array([[4.0, 0.0]]), np.array([9.0, 15.0])  # bad and good risks of the paper's Table 1
    >>> information_gain(cook, everybody).round(4).tolist()
    [0.2784]
    """
    rest = suppressed - values
    total = suppressed.sum()
    after = values.sum(axis=1) * entropy(values) + rest.sum(axis=1) * entropy(rest)
    gain: Floats = entropy(suppressed[np.newaxis])[0] - after / total
    return gain


def split_entropy(values: Floats, suppressed: Floats) -> Floats:
    """Return what each value's disclosure tells of the attribute itself, in bits: without a class to serve."""
    share = values.sum(axis=1)
    return entropy(np.stack([share, suppressed.sum() - share], axis=1))


def entropy(counts: Floats) -> Floats:
    """Return the entropy of each row of counts, in bits; 0 for a row of zeros."""
    total = counts.sum(axis=1, keepdims=True)
    shares = np.divide(counts, total, out=np.zeros_like(counts), where=total > 0)
    logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    bits: Floats = -(shares * logs).sum(axis=1)
    return bits
