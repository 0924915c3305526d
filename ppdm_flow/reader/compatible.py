"""Sums over the crowds of combinations, where a missing cell may hide any value (`nulls: wildcard`).

A person's missing value may be one that no other row has. So the crowd of a row is the rows that contradict it nowhere
and are missing wherever it is: `b` is in the crowd of `a` if, in every column, its cell is missing or the same as that
of `a`. A suppressed cell is a value like any other. The relation is transitive but not symmetric: crowds are no
partition, and the crowd of each row in a crowd is inside of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, vstack

from ppdm_flow.sdk.compiled import compiled
from ppdm_flow.tables.column import MISSING, SPECIALS

Codes = npt.NDArray[np.int32]
Sums = npt.NDArray[np.int64]
_MEMBERS = 1 << 22
"""Members of crowds that are held at a time."""


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
    out = np.empty_like(values)
    for rows, begins, found in _crowds(codes):
        out[rows] = np.add.reduceat(values[found], begins[:-1])
    return out


def compatible_rows(codes: Codes, matrix: Any) -> Any:
    """Return the same sums of the rows of a sparse matrix (combinations, figures) of integers, as such a matrix."""
    order, parts = [], []
    for rows, begins, found in _crowds(codes):
        shape = len(rows), len(codes)
        parts.append(csr_array((np.ones(len(found), dtype=np.int64), found, begins), shape=shape) @ matrix)
        order.append(rows)
    return vstack(parts, format="csr")[np.argsort(np.concatenate(order))]


def compatible_pairs(codes: Codes) -> tuple[Sums, Sums]:
    """Return each combination with each one in its crowd, as places in ``codes``."""
    rows, others = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for own, begins, found in _crowds(codes):
        rows.append(np.repeat(own, np.diff(begins)))
        others.append(found)
    return np.concatenate(rows), np.concatenate(others)


def _crowds(codes: Codes) -> Iterator[tuple[Sums, Sums, Sums]]:
    """Yield some rows, and their crowds one after the other: where each begins, and the rows in it; until all are."""
    if not (codes == MISSING).any():
        every = np.arange(len(codes))
        yield every, np.arange(len(codes) + 1), every
        return
    by_fit = np.argsort([_fit(column) for column in codes.T], kind="stable")  # few branches first
    columns = np.ascontiguousarray(codes[:, by_fit].T)
    order = np.lexsort(columns[::-1]) if len(columns) else np.arange(len(codes))
    columns = np.ascontiguousarray(columns[:, order])
    found = np.empty(max(_MEMBERS, len(codes)), dtype=np.int32)
    begins = np.zeros(len(codes) + 1, dtype=np.int64)
    first = 0
    while first < len(codes):
        last = members(columns, first, begins, found)
        crowds = begins[: last - first + 1]
        yield order[first:last], crowds, order[found[: crowds[-1]]]
        first = last


def _fit(column: Codes) -> float:
    """Return how likely it is that one cell of a column is compatible with another."""
    shares = np.bincount(column + SPECIALS) / len(column)
    missing = float(shares[MISSING + SPECIALS]) if len(shares) > MISSING + SPECIALS else 0.0
    return missing + float((shares**2).sum()) - missing**2


# The kernel behind :mod:`ppdm_flow.reader.compatible`: sorted rows searched like a trie.


@compiled
def _end(cells: npt.NDArray[np.int32], value: np.int64 | np.int32, low: int, high: int) -> int:
    """Return the first place in the sorted ``cells[low:high]`` whose cell is greater than ``value``."""
    while low < high:
        middle = (low + high) // 2
        if cells[middle] > value:
            high = middle
        else:
            low = middle + 1
    return low


@compiled
def members(
    columns: npt.NDArray[np.int32], first: int, begins: npt.NDArray[np.int64], found: npt.NDArray[np.int32]
) -> int:
    """Find the rows that are missing or the same in every column, for each row from ``first`` on while there is room.

    ``columns`` (columns, rows) hold rows in lexicographic order, so those with a common beginning are a range, and a
    range splits into one range for each value of the next column. A cell follows the missing one and, if known, its own
    value: one range waits for each column at most. Rows are distinct: a whole row is a range of one. The work is the
    number of beginnings that fit. ``found`` has room for all rows, and ``begins`` is where those of each row begin.
    Returns the row after the last one.
    """
    width, rows = len(columns), len(begins) - 1
    levels = np.empty(width + 1, dtype=np.int64)
    lows = np.empty(width + 1, dtype=np.int64)
    highs = np.empty(width + 1, dtype=np.int64)
    for row in range(first, rows):
        used = begins[row - first]
        levels[0], lows[0], highs[0] = 0, 0, rows
        waiting = 1
        while waiting:
            waiting -= 1
            level, low, high = levels[waiting], lows[waiting], highs[waiting]
            if level == width:
                if used == len(found):
                    return row
                found[used] = low
                used += 1
                continue
            cells = columns[level]
            value = cells[row]
            for branch in range(2 if value != MISSING else 1):
                wanted = np.int64(value) if branch else np.int64(MISSING)
                start = _end(cells, wanted - np.int64(1), low, high)
                end = _end(cells, wanted, start, high)
                if start < end:
                    levels[waiting], lows[waiting], highs[waiting] = level + 1, start, end
                    waiting += 1
        begins[row - first + 1] = used
    return rows
