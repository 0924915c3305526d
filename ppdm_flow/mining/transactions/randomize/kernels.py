"""Which items of a transaction stay, and which others come in: compiled."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.itemsets.kernels import inlined
from ppdm_flow.sdk.compiled import compiled

Words = npt.NDArray[np.uint64]


@inlined
def remaining(limits: Words, word: np.uint64) -> int:
    """Return how many items stay: the number of ``limits`` that the word's upper 53 bits reach."""
    number = word >> np.uint64(11)
    count = np.int64(0)
    while number >= limits[count]:
        count += 1
    return count  # type: ignore[return-value]  # numba's int


@inlined
def stays(word: np.uint64, wanted: int, candidates: int) -> bool:
    """Whether the next of ``candidates`` items is among the ``wanted`` ones: selection sampling, each set as likely.

    On the word's upper 48 bits; sure where none or all are wanted.
    """
    return (word >> np.uint64(16)) * np.uint64(candidates) < np.uint64(wanted) << np.uint64(48)  # type: ignore[return-value]


@inlined
def below(word: np.uint64, bound: int) -> int:
    """Return a whole number from 0 to ``bound`` - 1, ``bound`` <= 2^32: the upper half of their product."""
    low = ((word & np.uint64(0xFFFFFFFF)) * np.uint64(bound)) >> np.uint64(32)
    return np.int64(((word >> np.uint64(32)) * np.uint64(bound) + low) >> np.uint64(32))  # type: ignore[return-value]


@compiled
def insert(words: Words, begin: int, sizes: npt.NDArray[np.int32], levels: Words, planes: int, out: Words) -> None:
    """Set each bit of ``out[r]`` with probability ``levels[sizes[r]] / 2^planes``, exactly.

    Bit by bit of a uniform number below 2^planes, lowest first, 64 items at once: whether it is below the level.
    """
    width = out.shape[1]
    for row in range(len(out)):
        level = levels[sizes[row]]
        for w in range(width):
            less = np.uint64(0)
            for plane in range(planes):
                bits = ~words[row, begin + plane * width + w]
                less = (bits | less) if (level >> np.uint64(plane)) & np.uint64(1) else (bits & less)
            out[row, w] = less


@compiled
def keep(offsets: npt.NDArray[np.int64], items: npt.NDArray[np.int32], limits: Words, words: Words, out: Words) -> None:
    """Give each item of row r its fate: in ``out[r]`` if it stays, else not. Words: one for j, one for each item."""
    for row in range(len(offsets) - 1):
        first = offsets[row]
        size = offsets[row + 1] - first
        left = remaining(limits[size], words[row, 0])
        for i in range(size):
            item = items[first + i]
            bit = np.uint64(1) << np.uint64(item & 63)
            if stays(words[row, 1 + i], left, size - i):
                left -= 1
                out[row, item >> 6] |= bit
            else:
                out[row, item >> 6] &= ~bit


@compiled
def refill(
    offsets: npt.NDArray[np.int64],
    items: npt.NDArray[np.int32],
    limits: Words,
    words: Words,
    alphabet: int,
    inserted: int,
    out: Words,
) -> None:
    """Put as many items from outside of row r into ``out[r]`` as fell out, and ``inserted`` more, each set as likely.

    Words: after those of :func:`keep` one for each new item. A place among the items not yet taken is drawn, and
    found by stepping over the taken ones in order.
    """
    longest = limits.shape[0] - 1
    taken = np.empty(2 * longest + inserted + 1, dtype=np.int64)
    for row in range(len(offsets) - 1):
        first = offsets[row]
        size = offsets[row + 1] - first
        for i in range(size):
            taken[i] = items[first + i]
        held = size
        for new in range(size - remaining(limits[size], words[row, 0]) + inserted):
            item = below(words[row, 1 + longest + new], alphabet - held)
            place = 0
            while place < held and taken[place] <= item:
                item += 1
                place += 1
            for i in range(held, place, -1):
                taken[i] = taken[i - 1]
            taken[place] = item
            held += 1
            out[row, item >> 6] |= np.uint64(1) << np.uint64(item & 63)
