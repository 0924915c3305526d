"""Which combinations are in the crowd of which, where a missing cell may hide any value (`nulls: wildcard`)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.exposure.faults import UncrowdedError
from ppdm_flow.tables.column import MISSING, SPECIALS
from ppdm_flow.tables.numbering import joined

Ints = npt.NDArray[np.int64]
LIMIT = 100_000_000
"""So many pairs of combinations are looked at, at most."""


def compatible_pairs(codes: npt.NDArray[np.int32]) -> tuple[Ints, Ints]:
    """Return (a, b) for all combinations (rows of ``codes``, distinct) where b is missing or like a in every column.

    Combinations are taken by the pattern of their missing cells: each is made to look like every pattern that it can
    take by losing cells, and looked up. Raises UncrowdedError beyond :data:`LIMIT` pairs.
    """
    every = np.arange(len(codes), dtype=np.int64)
    missing = codes == MISSING
    if not missing.any():
        return every, every
    patterns, pattern = np.unique(missing, axis=0, return_inverse=True)
    pattern = pattern.reshape(-1)
    pairs: list[tuple[Ints, Ints]] = []
    total = 0
    for i, lost in enumerate(patterns):
        asking = np.flatnonzero(~(missing & ~lost).any(axis=1))
        there = np.flatnonzero(pattern == i)
        key = np.zeros(len(asking) + len(there), dtype=np.int64)
        for column in np.flatnonzero(~lost):
            cells = np.concatenate([codes[asking, column], codes[there, column]])
            key = joined(key, cells.astype(np.int64) + SPECIALS)
        place = np.full(int(key.max(initial=0)) + 1, -1, dtype=np.int64)
        place[key[len(asking) :]] = there
        fitting = place[key[: len(asking)]]
        pairs.append((asking[fitting >= 0], fitting[fitting >= 0]))
        total += len(pairs[-1][0])
        if total > LIMIT:
            raise UncrowdedError(
                f"More than {LIMIT:,} pairs of groups could be one where a missing value may be any: people cannot be"
                " counted in so many. Use `nulls: own_category`, or generalize first."
            )
    return np.concatenate([a for a, _ in pairs]), np.concatenate([b for _, b in pairs])
