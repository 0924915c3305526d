"""The kernel: each row defines its domains one element after another."""

from __future__ import annotations

import numpy as np

from ppdm_flow.mining.generation.layout import Counts, DomainLayout, Floats, Items
from ppdm_flow.mining.itemsets.bits import Words
from ppdm_flow.mining.itemsets.kernels import inlined
from ppdm_flow.sdk.compiled import borrowed, compiled

SHIFT = np.uint64(32)
LOW = np.uint64(0xFFFFFFFF)
UNUSED_BITS = np.uint64(11)
ONE = np.uint64(1)


@inlined
def below(word: np.uint64, bound: int) -> int:
    """Return floor(word * bound / 2^64): uniform below ``bound`` (less than 2^32) for a uniform word."""
    k = np.uint64(bound)
    return np.int64(((word >> SHIFT) * k + (((word & LOW) * k) >> SHIFT)) >> SHIFT)  # type: ignore[return-value]


@inlined
def rest(word: np.uint64, bound: int) -> float:
    """Return the fraction of word * bound / 2^64, in [0, 1): uniform, and independent of ``below``."""
    return np.float64((word * np.uint64(bound)) >> UNUSED_BITS) * 2.0**-53


@inlined
def fits(mask: Words, at: int, defined: Words) -> bool:
    """Whether the group of entry ``at`` defines nothing that is defined."""
    for w in range(len(defined)):  # noqa: SIM110 - compiled code has no generators
        if mask[at, w] & defined[w]:
            return False
    return True


@inlined
def first_above(values: Floats, begin: int, end: int, x: float) -> int:
    """Return the first position in ``begin:end`` of an ascending stretch whose value exceeds x, or the last one."""
    while begin < end - 1:
        middle = (begin + end - 1) // 2
        if values[middle] > x:
            end = middle + 1
        else:
            begin = middle + 1
    return begin


@inlined
def weighed(layout: DomainLayout, domain: int, defined: Words, u: float, reach: Floats, fitting: Counts) -> int:
    """Return an element that defines ``domain`` and fits, by weight, or -1 where none has a weight."""
    count, total = 0, 0.0
    for at in range(layout.begin[domain], layout.begin[domain + 1]):
        if layout.weight[at] > 0.0 and fits(layout.mask, at, defined):
            reach[count], fitting[count] = total, at
            total += layout.weight[at]
            count += 1
    if count == 0:
        return -1
    x = u * total
    chosen = first_above(reach, 0, count, x)
    if reach[chosen] > x:
        chosen -= 1
    group = layout.group[fitting[chosen]]
    return int(
        layout.member[first_above(layout.running, layout.first[group], layout.first[group + 1], x - reach[chosen])]
    )


@inlined
def unweighed(layout: DomainLayout, domain: int, defined: Words, u: float) -> int:
    """Return an element that defines ``domain`` and fits, each with the same probability."""
    total = 0
    for at in range(layout.begin[domain], layout.begin[domain + 1]):
        if fits(layout.mask, at, defined):
            total += layout.size[at]
    left = np.int64(u * total)
    for at in range(layout.begin[domain], layout.begin[domain + 1]):
        if fits(layout.mask, at, defined):
            if left < layout.size[at]:
                return int(layout.member[layout.first[layout.group[at]] + left])
            left -= layout.size[at]
    return -1


@inlined
def unhindered(layout: DomainLayout, domain: int, u: float) -> int:
    """Return an element for a row of which nothing is defined, or -1: all of them fit, so that sums are known."""
    begin, end = layout.begin[domain], layout.begin[domain + 1]
    total = layout.reach[end - 1]
    if total <= 0.0:
        return -1
    x = u * total
    at = first_above(layout.reach, begin, end, x)
    group = layout.group[at]
    under = layout.reach[at - 1] if at > begin else 0.0
    return int(layout.member[first_above(layout.running, layout.first[group], layout.first[group + 1], x - under)])


@inlined
def undefined(defined: Words, rank: int) -> int:
    """Return the domain that comes ``rank``-th, from 0, of those that are not defined."""
    domain = 0
    while True:
        if not (defined[domain >> 6] >> np.uint64(domain & 63)) & ONE:
            if rank == 0:
                return domain
            rank -= 1
        domain += 1


@compiled
def fill(
    layout: DomainLayout,
    words: Words,
    defined: Words,
    reach: Floats,
    fitting: Counts,
    cells: Items,
    itemsets: Items,
) -> None:
    """Generate a row from each row of ``words``: ``cells`` (rows, domains) and how many ``itemsets`` (rows,) it took.

    The next domain is a uniform one of those that are not defined: what a random order of domains, looked at one after
    another, comes to. ``defined``, ``reach`` and ``fitting`` are scratch.
    """
    layout = borrowed(layout)
    domains = cells.shape[1]
    for row in range(len(cells)):
        defined[:] = 0
        left, taken = domains, 0
        while left:
            word = words[row, taken]
            domain = undefined(defined, below(word, left))
            u = rest(word, left)
            if taken == 0:
                element = unhindered(layout, domain, u)
            else:
                element = weighed(layout, domain, defined, u, reach, fitting)
            if element < 0:
                element = unweighed(layout, domain, defined, u)
            for i in range(layout.offsets[element], layout.offsets[element + 1]):
                item = layout.items[i]
                place = layout.place[item]
                cells[row, place] = item
                defined[place >> 6] |= ONE << np.uint64(place & 63)
                left -= 1
            taken += 1
        itemsets[row] = taken
