"""How many classes and rows there are of which size."""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]

EDGES = (1, 2, 3, 5, 10, 20, 50, 100, 1000)
"""First size of each bin; the last one is open."""


def bins() -> tuple[str, ...]:
    """Return the names of the bins."""
    ends = [start if start + 1 == end else f"{start}–{end - 1:,}" for start, end in itertools.pairwise(EDGES)]
    return (*map(str, ends), f"{EDGES[-1]:,}+")


def classes_by_bin(sizes: Integers) -> Integers:
    """Return the number of classes in each bin."""
    return np.bincount(np.searchsorted(EDGES, sizes, side="right") - 1, minlength=len(EDGES))


def rows_by_bin(sizes: Integers) -> Integers:
    """Return the number of rows in the classes of each bin."""
    out = np.zeros(len(EDGES), dtype=np.int64)
    np.add.at(out, np.searchsorted(EDGES, sizes, side="right") - 1, sizes)
    return out
