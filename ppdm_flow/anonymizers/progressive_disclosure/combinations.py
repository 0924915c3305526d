"""Rows that are equal in some columns, taken together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]


def collapsed(columns: Sequence[Integers]) -> tuple[Integers, Integers]:
    """Number the distinct rows of ``columns``, whose codes are -1 at least; also the first row of each."""
    key = np.zeros(len(columns[0]), dtype=np.int64)
    radix = 1
    for column in columns:
        width = int(column.max(initial=-1)) + 2
        if radix * width >= 1 << 62:
            distinct, key = np.unique(key, return_inverse=True)
            radix = max(1, len(distinct))
        key = key * width + (column + 1)
        radix *= width
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    return inverse, first


def sums(places: Integers, weights: Integers, size: int) -> Integers:
    """Add up ``weights`` by place. Exact: row counts stay below 2^53."""
    return np.bincount(places, weights=weights, minlength=size).astype(np.int64)
