"""The stack of a depth-first search: itemsets that wait, each with where its rows or its later items are."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.itemsets.kernels import allocating, inlined

Stack = npt.NDArray[np.int64]

ITEM, DEPTH, SUPPORT, LOW, HIGH = range(5)
"""Of an itemset that waits: its last item, the length of the set that it extends or is, its support, a range."""


@allocating
def deeper(old: Stack, least: int) -> Stack:
    """Return a stack with room for at least ``least`` lines."""
    if least <= len(old):
        return old
    new = np.empty((max(least, 2 * len(old)), 5), dtype=np.int64)
    new[: len(old)] = old
    return new


@inlined
def push(stack: Stack, line: int, item: int, depth: int, support: int, low: int, high: int) -> int:
    """Fill a line; return the next one."""
    stack[line, ITEM] = item
    stack[line, DEPTH] = depth
    stack[line, SUPPORT] = support
    stack[line, LOW] = low
    stack[line, HIGH] = high
    return line + 1
