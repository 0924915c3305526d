"""Bits of whole numbers, and what genetic encoding does with them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]


def encoded(ids: Integers, width: int, head: int, *, complement: bool = False) -> Integers:
    """Return the code of every id, shape (rows,), all within [0, 2^width).

    The first ``head`` of the ``width`` bits are reversed (or complemented) and stay, the others come from the row
    after; the last row gets the first one's.

    Examples
    --------
    >>> encoded(np.array([106, 257, 3000]), 12, 4).tolist()
    [1, 2232, 3434]
    """
    tail = width - head
    first = ids >> tail
    kept = ((1 << head) - 1) ^ first if complement else mirrored(first, head)
    return (kept << tail) | np.roll(ids & ((1 << tail) - 1), -1)


def mirrored(values: Integers, width: int) -> Integers:
    """Return the values with their ``width`` bits in opposite order.

    Examples
    --------
    >>> mirrored(np.array([0b0001, 0b1011]), 4).tolist()
    [8, 13]
    """
    out = np.zeros_like(values)
    for place in range(width):
        out |= ((values >> place) & 1) << (width - 1 - place)
    return out


def colliding(ids: Integers, codes: Integers) -> int:
    """Return how many rows share their code with a row of another id."""
    order = np.lexsort((ids, codes))
    code, own = codes[order], ids[order]
    start = np.flatnonzero(np.append(True, code[1:] != code[:-1]))[: len(code)]
    if not len(start):
        return 0
    sizes = np.diff(np.append(start, len(code)))
    several = own[start] != own[start + sizes - 1]  # sorted, so the ends differ where any two do
    return int(sizes[several].sum())
