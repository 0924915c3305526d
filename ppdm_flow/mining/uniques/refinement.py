"""Minimal sample uniques of coded rows, by partitions that are refined column by column.

The rows of a table fall into classes by a few columns, and each further column splits them. A row that is alone in a
class is unique there, so it needs no further columns; nor does it cover another row from then on. What is kept of a
partition are the classes of two rows and more (stripped partitions: Huhtala, Kärkkäinen, Porkka, Toivonen, TANE, The
Computer Journal 42(2), 1999), which become few as columns are added. The search goes size by size, as SUDA2 does
(Manning, Haglin, Keane, DMKD 16(2), 2008): a set that makes a row unique is minimal if none of the row's smaller
minimal sets is inside of it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.sdk.compiled import compiled

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]


@compiled
def refine(
    rows: Ints, ends: Ints, classes: int, codes: Codes, weights: Ints, scratch: Ints, out: Ints, out_ends: Ints
) -> tuple[int, int]:
    """Split ``classes`` (``rows`` in a line, each class up to its end) by one column of codes.

    Classes of several rows go to ``out`` and ``out_ends``. Rows that are alone and have weight 1 are unique: they are
    put at the end of ``out``, last first. Codes below zero take their row out. ``scratch`` (3, codes) is zero, and is
    left so. Returns how many classes are left, and how many rows are unique.
    """
    start = left = unique = filled = 0
    last = len(out)
    touched = scratch[2]
    for number in range(classes):
        many = 0
        for i in range(start, ends[number]):
            code = codes[rows[i]]
            if code >= 0:
                if scratch[0, code] == 0:
                    touched[many] = code
                    many += 1
                scratch[0, code] += 1
        for j in range(many):
            code = touched[j]
            if scratch[0, code] > 1:
                scratch[1, code] = filled
                filled += scratch[0, code]
                out_ends[left] = filled
                left += 1
        for i in range(start, ends[number]):
            row = rows[i]
            code = codes[row]
            if code < 0:
                continue
            if scratch[0, code] > 1:
                out[scratch[1, code]] = row
                scratch[1, code] += 1
            elif weights[row] == 1:
                unique += 1
                out[last - unique] = row
        for j in range(many):
            scratch[0, touched[j]] = 0
            touched[j] = 0
        start = ends[number]
    return left, unique


@compiled
def _is_minimal(row: int, heads: Ints, nexts: Ints, sets: Codes, inside: npt.NDArray[np.bool_]) -> bool:
    """Whether none of the sets that are known of a row is inside of the chosen one."""
    at = heads[row]
    while at >= 0:
        within = True
        for j in range(sets.shape[1]):
            if sets[at, j] >= 0 and not inside[sets[at, j]]:
                within = False
                break
        if within:
            return False
        at = nexts[at]
    return True


@compiled
def _count_minimal(
    unique: Ints, chosen: Ints, known: tuple[Ints, Ints, Codes, int], inside: npt.NDArray[np.bool_],
    by_row: Ints, by_column: Ints,
) -> tuple[Ints, Ints, Codes, int]:  # fmt: skip
    """Count the ``unique`` rows of which the ``chosen`` columns are a minimal set; keep it unless it is a largest one.

    ``known`` are the sets of each row as a linked list: the place of its last set, of the one before each set, the
    sets (-1 for no further column), and how many there are.
    """
    heads, nexts, sets, stored = known
    level, size = len(chosen), by_row.shape[1]
    for row in unique:
        if not _is_minimal(row, heads, nexts, sets, inside):
            continue
        by_row[row, level - 1] += 1
        for column in chosen:
            by_column[column, level - 1] += 1
        if level == size:
            continue
        if stored == len(nexts):
            longer, wider = np.empty(2 * stored, dtype=np.int64), np.empty((2 * stored, size), dtype=np.int32)
            longer[:stored] = nexts
            wider[:stored] = sets
            nexts, sets = longer, wider
        for j in range(size):
            sets[stored, j] = chosen[j] if j < level else -1
        nexts[stored] = heads[row]
        heads[row] = stored
        stored += 1
    return heads, nexts, sets, stored


@compiled
def minimal_uniques(codes: Codes, weights: Ints, size: int, width: int) -> tuple[Ints, Ints]:
    """Count the minimal sample uniques of each row by size, (rows, size), and by column, (columns, size).

    Parameters
    ----------
    codes : shape (columns, rows), below ``width``; below zero where a row is left out of sets with that column
    weights : shape (rows,), above 0: how many people have this row; rows are distinct where none is left out
    size : the largest set of columns, at most the number of columns
    """
    columns, n = codes.shape
    by_row, by_column = np.zeros((n, size), dtype=np.int64), np.zeros((columns, size), dtype=np.int64)
    known = (
        np.full(n, -1, dtype=np.int64), np.empty(1024, dtype=np.int64), np.empty((1024, size), dtype=np.int32), 0,
    )  # fmt: skip
    rows, ends = np.empty((size + 1, n), dtype=np.int64), np.empty((size + 1, n + 1), dtype=np.int64)
    classes, chosen = np.ones(size + 1, dtype=np.int64), np.zeros(size, dtype=np.int64)
    scratch, inside = np.zeros((3, width), dtype=np.int64), np.zeros(columns, dtype=np.bool_)
    rows[0] = np.arange(n)
    ends[0, 0] = n
    for level in range(1, size + 1):
        depth = 0
        chosen[0] = -1
        while depth >= 0:
            before = chosen[depth - 1] if depth > 0 else -1
            if chosen[depth] > before:
                inside[chosen[depth]] = False
            chosen[depth] += 1
            column = chosen[depth]
            if column > columns - level + depth:
                depth -= 1
                continue
            inside[column] = True
            left, unique = refine(
                rows[depth], ends[depth], classes[depth], codes[column], weights, scratch, rows[depth + 1],
                ends[depth + 1],
            )  # fmt: skip
            if depth + 1 == level:
                alone = rows[depth + 1, n - unique :]
                known = _count_minimal(alone, chosen[:level], known, inside, by_row, by_column)
            elif left > 0:
                classes[depth + 1] = left
                depth += 1
                chosen[depth] = column
    return by_row, by_column
