"""Sums over the crowds of combinations, where a missing cell may stand for any value (`nulls: wildcard`).

A person's missing value may be one that no other row has. So the crowd of a row is the rows that contradict it nowhere
and are missing wherever it is: `b` is in the crowd of `a` if, in every column, its cell is missing or the same as that
of `a`. A suppressed cell is a value like any other. The relation is transitive but not symmetric: crowds are no
partition, and the crowd of each row in a crowd is inside of it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.tables.column import MISSING, SPECIALS

Codes = npt.NDArray[np.int32]
Sums = npt.NDArray[np.int64]


def compatible_sums(codes: Codes, values: Sums) -> Sums:
    """Add up, for each combination, the values of all combinations in its crowd, itself included.

    Parameters
    ----------
    codes : shape (combinations, columns), distinct rows
    values : shape (combinations, figures), what to add up

    Returns
    -------
    Sums of shape (combinations, figures).
    """
    if not (codes == MISSING).any():
        return values.copy()
    from ppdm_flow.mining.exposure.trie import sums  # noqa: PLC0415  # compiled: takes time to start

    by_fit = np.argsort([_fit(column) for column in codes.T], kind="stable")  # few branches first
    columns = np.ascontiguousarray(codes[:, by_fit].T)
    order = np.lexsort(columns[::-1])
    columns = np.ascontiguousarray(columns[:, order])
    prefix = np.zeros((len(codes) + 1, values.shape[1]), dtype=np.int64)
    np.cumsum(values[order], axis=0, out=prefix[1:])
    ordered = np.zeros(values.shape, dtype=np.int64)
    sums(columns, prefix, ordered)
    out = np.empty_like(ordered)
    out[order] = ordered
    return out


def _fit(column: Codes) -> float:
    """Return how likely it is that one cell of a column is compatible with another."""
    shares = np.bincount(column + SPECIALS) / len(column)
    missing = float(shares[MISSING + SPECIALS]) if len(shares) > MISSING + SPECIALS else 0.0
    return missing + float((shares**2).sum()) - missing**2
