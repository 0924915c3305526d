"""Going down the classes of a release, column by column, with one person after another.

Classes are sorted by their columns, so that those with one label in the first, then in the second, are one range.
A person's values leave some ranges after each column; the next person, who shares the first values, goes on from those.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ppdm_flow.sdk.compiled import compiled

Integers = npt.NDArray[np.int64]
Truths = npt.NDArray[np.bool_]


def lexicographic(codes: Integers) -> Integers:
    """Return the order of rows by ``codes`` (columns, rows), the first column first."""
    key = np.zeros(codes.shape[1], dtype=np.int64)
    radix = 1
    for column in codes if codes.shape[1] else ():
        low = int(column.min())
        width = int(column.max()) - low + 1
        if radix * width >= 1 << 62:
            distinct, key = np.unique(key, return_inverse=True)
            radix = len(distinct)
        key = key * width + (column - low)
        radix *= width
    return np.argsort(key, kind="stable")


@compiled
def _place(labels: Any, first: int, last: int, label: int) -> int:
    """Return the first place from ``first`` to ``last`` whose label is not below ``label``."""
    while first < last:
        middle = (first + last) // 2
        if labels[middle] < label:
            first = middle + 1
        else:
            last = middle
    return first


@compiled
def _fits(value: int, label: int, starts: Integers, labels: Integers, wide: Truths, unknown: Truths) -> bool:
    if wide[label] or unknown[value]:
        return True
    place = _place(labels, starts[value], starts[value + 1], label)
    return bool(place < starts[value + 1] and labels[place] == label)


@compiled
def _narrowed(
    value: int,
    line: Any,
    first: int,
    last: int,
    starts: Integers,
    labels: Integers,
    wide: Truths,
    unknown: Truths,
    opens: Integers,
    begins: Any,
    ends: Any,
    many: int,
) -> int:
    """Add the ranges within one range whose label in this column fits; return how many there are now."""
    known = starts[value + 1] - starts[value]
    if unknown[value] or last - first <= 2 * (known + len(opens)):
        while first < last:
            label = line[first]
            end = first + 1
            while end < last and line[end] == label:
                end += 1
            if _fits(value, label, starts, labels, wide, unknown):
                begins[many], ends[many] = first, end
                many += 1
            first = end
        return many
    for i in range(known + len(opens)):
        label = labels[starts[value] + i] if i < known else opens[i - known]
        begin = _place(line, first, last, label)
        if begin < last and line[begin] == label:
            begins[many], ends[many] = begin, _place(line, begin, last, label + 1)
            many += 1
    return many


@compiled
def descend(
    people: Integers,
    classes: Integers,
    rows: Integers,
    starts: Integers,
    labels: Integers,
    wide: Truths,
    unknown: Truths,
    opens: Integers,
    open_starts: Integers,
    low: Integers,
    high: Integers,
    out_rows: Integers,
    out_kinds: Integers,
    out_first: Integers,
    out_low: Integers,
    out_high: Integers,
) -> int:
    """Look sorted ``people`` (people, columns) up in sorted ``classes`` (columns, classes); return the looks taken."""
    depth = len(classes)
    begins = np.zeros((depth + 1, len(rows)), dtype=np.int32)
    ends = np.zeros((depth + 1, len(rows)), dtype=np.int32)
    sizes = np.zeros(depth + 1, dtype=np.int64)
    ends[0, 0], sizes[0] = len(rows), 1
    looks = 0
    for p in range(len(people)):
        k = 0
        while p > 0 and k < depth and people[p, k] == people[p - 1, k]:
            k += 1
        while k < depth:
            many = 0
            mine = opens[open_starts[k] : open_starts[k + 1]]
            for i in range(sizes[k]):
                value, first, last = people[p, k], begins[k, i], ends[k, i]
                looks += min(last - first, starts[value + 1] - starts[value] + len(mine) + 1)
                many = _narrowed(value, classes[k], first, last, starts, labels, wide, unknown, mine,
                                 begins[k + 1], ends[k + 1], many)  # fmt: skip
            k += 1
            sizes[k] = many
        looks += sizes[depth]
        for i in range(sizes[depth]):
            for c in range(begins[depth, i], ends[depth, i]):
                _add(p, c, rows, low, high, out_rows, out_kinds, out_first, out_low, out_high)
    return looks


@compiled
def _add(
    p: int,
    c: int,
    rows: Integers,
    low: Integers,
    high: Integers,
    out_rows: Integers,
    out_kinds: Integers,
    out_first: Integers,
    out_low: Integers,
    out_high: Integers,
) -> None:
    if out_kinds[p] == 0:
        out_first[p] = c
    for s in range(len(low)):
        if out_kinds[p] == 0 or low[s, c] < out_low[s, p]:
            out_low[s, p] = low[s, c]
        if out_kinds[p] == 0 or high[s, c] > out_high[s, p]:
            out_high[s, p] = high[s, c]
    out_rows[p] += rows[c]
    out_kinds[p] += 1
