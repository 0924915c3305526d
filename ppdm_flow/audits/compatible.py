"""Sums over compatible combinations, where a missing cell may stand for any value."""

from __future__ import annotations

import numba
import numpy as np
import numpy.typing as npt

from ppdm_flow.tables.column import MISSING, SPECIALS

Codes = npt.NDArray[np.int32]
Sums = npt.NDArray[np.int64]

_KEY_LIMIT = 1 << 62
_PAIR_SECONDS = 3e-9
_INTERSECTION_SECONDS = 1e-4
_CELL_SECONDS = 3e-8


def compatible_sums(codes: Codes, values: Sums) -> Sums:
    """Add up, for each combination, the values of all combinations that it is compatible with, itself included.

    Two combinations are compatible if they agree in every column where neither is missing; a suppressed cell is a
    value like any other. Compatibility is not transitive, so these are neighbourhoods and no partition.

    Parameters
    ----------
    codes : shape (combinations, columns), distinct rows
    values : shape (combinations, figures), what to add up

    Returns
    -------
    Sums of shape (combinations, figures).
    """
    missing = codes == MISSING
    if not missing.any():
        return values.copy()
    patterns, pattern_of = np.unique(missing, axis=0, return_inverse=True)
    pattern_of = pattern_of.reshape(-1)
    codes = np.ascontiguousarray(codes)
    values = np.ascontiguousarray(values, dtype=np.int64)
    out = np.zeros_like(values)
    for number, pattern in enumerate(patterns):
        rows = np.flatnonzero(pattern_of == number)
        known = np.flatnonzero(~pattern)
        shared, shared_of = _intersections(patterns, known)
        by_key = len(shared) * _INTERSECTION_SECONDS + len(codes) * len(known) * _CELL_SECONDS
        if len(rows) * len(codes) * _PAIR_SECONDS < by_key:
            _by_pair(codes, values, rows, out)
        else:
            of_row = shared_of[pattern_of]
            for i, present in enumerate(shared):
                others = np.flatnonzero(of_row == i)
                out[rows] += _by_key(codes[rows], codes[others], values[others], known[present])
    return out


def _intersections(patterns: npt.NDArray[np.bool_], known: npt.NDArray[np.intp]) -> tuple[npt.NDArray[np.bool_], Codes]:
    """Return which of the ``known`` columns other patterns know too: the distinct ones, and which one each has."""
    if len(known) == 0:
        return np.zeros((1, 0), dtype=np.bool_), np.zeros(len(patterns), dtype=np.int32)
    shared, shared_of = np.unique(~patterns[:, known], axis=0, return_inverse=True)
    return shared, shared_of.reshape(-1).astype(np.int32)


def _by_key(own: Codes, others: Codes, values: Sums, columns: npt.NDArray[np.intp]) -> Sums:
    """Return the sums of ``values`` over the others that agree with each of ``own`` in ``columns``."""
    keys = _row_keys(np.concatenate([own[:, columns], others[:, columns]]))
    distinct, place = np.unique(keys, return_inverse=True)
    sums = np.zeros((len(distinct), values.shape[1]), dtype=np.int64)
    np.add.at(sums, place[len(own) :], values)
    return sums[place[: len(own)]]


def _row_keys(codes: Codes) -> npt.NDArray[np.int64]:
    """Return one integer for each row, the same for equal rows; renumbered where 62 bits would not do."""
    keys = np.zeros(len(codes), dtype=np.int64)
    radix = 1
    for column in codes.T:
        width = int(column.max(initial=0)) + 1 + SPECIALS
        if radix * width >= _KEY_LIMIT:
            distinct, keys = np.unique(keys, return_inverse=True)
            radix = len(distinct)
        keys = keys * width + column + SPECIALS
        radix *= width
    return keys


@numba.njit(cache=True, nogil=True)
def _by_pair(codes: Codes, values: Sums, rows: npt.NDArray[np.intp], out: Sums) -> None:
    """Compare each of ``rows`` with every combination: cheaper than keys where few rows share a pattern."""
    columns = codes.shape[1]
    for row in rows:
        for other in range(codes.shape[0]):
            agree = True
            for j in range(columns):
                a, b = codes[row, j], codes[other, j]
                if a != b and a != MISSING and b != MISSING:
                    agree = False
                    break
            if agree:
                for t in range(values.shape[1]):
                    out[row, t] += values[other, t]
