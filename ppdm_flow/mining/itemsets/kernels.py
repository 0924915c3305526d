"""Parts of kernels that lie in several modules, and pass states of many arrays to each other.

Counting references to these at every call would cost ten times the work itself: kernels borrow them (``borrowed``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt

from ppdm_flow.sdk.compiled import KernelPart, compiled

P = ParamSpec("P")
R = TypeVar("R")

PART: dict[str, Any] = {"nogil": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
Counts = npt.NDArray[np.int64]
Items = npt.NDArray[np.int32]

Stack = npt.NDArray[np.int64]


def inlined(function: Callable[P, R]) -> Callable[P, R]:
    """Compile ``function`` into every kernel that calls it."""
    return KernelPart(function, {**PART, "forceinline": True})


def spliced(function: Callable[P, R]) -> Callable[P, R]:
    """Splice the source of ``function`` into its caller: for long ones with one caller.

    Else they are compiled twice, by themselves and as a part of their caller.
    """
    return KernelPart(function, {**PART, "inline": "always"})


def part(function: Callable[P, R]) -> Callable[P, R]:
    """Compile ``function`` for kernels to call."""
    return KernelPart(function, PART)


# Arrays that grow within compiled code: the itemsets found, and the stack of a depth-first search.


ITEM, DEPTH, SUPPORT, LOW, HIGH = range(5)
"""Of an itemset that waits: its last item, the length of the set that it extends or is, its support, a range."""


class ItemsetOutput(NamedTuple):
    """Itemset s ends before ``ends[s]`` in ``items``; ``used`` holds (itemsets, items) so far and where to stop."""

    items: Items
    ends: Counts
    supports: Counts
    used: Counts


@compiled
def wider(old: Items, least: int) -> Items:
    """Return ``old`` with room for at least ``least``."""
    if least <= len(old):
        return old
    new = np.empty(max(least, 2 * len(old)), dtype=np.int32)
    new[: len(old)] = old
    return new


@compiled
def longer(old: Counts, least: int) -> Counts:
    """Return ``old`` with room for at least ``least``."""
    if least <= len(old):
        return old
    new = np.empty(max(least, 2 * len(old)), dtype=np.int64)
    new[: len(old)] = old
    return new


@compiled
def append(out: ItemsetOutput, prefix: Items, length: int, support: int) -> ItemsetOutput:
    """Add the first ``length`` items of ``prefix``. The caller must replace ``out`` by the returned array."""
    sets, filled = out.used[0], out.used[1]
    if sets + 1 > len(out.ends) or filled + length > len(out.items):
        out = ItemsetOutput(
            wider(out.items, filled + length), longer(out.ends, sets + 1), longer(out.supports, sets + 1), out.used
        )
    for i in range(length):
        out.items[filled + i] = prefix[i]
    out.ends[sets] = filled + length
    out.supports[sets] = support
    out.used[0] = sets + 1
    out.used[1] = filled + length
    return out


@inlined
def full(out: ItemsetOutput) -> bool:
    """Whether no itemset may be added any more."""
    return bool(out.used[0] >= out.used[2] or out.used[1] >= out.used[3])


@compiled
def sort_within(items: Items, ends: Counts) -> None:
    """Sort each set ascending, in place."""
    begin = 0
    for s in range(len(ends)):
        for i in range(begin + 1, ends[s]):
            item = items[i]
            j = i
            while j > begin and items[j - 1] > item:
                items[j] = items[j - 1]
                j -= 1
            items[j] = item
        begin = ends[s]


@compiled
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
