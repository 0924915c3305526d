"""Finding rows of codes among known ones."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]
_LIMIT = 1 << 62


def keyed(codes: npt.NDArray[np.signedinteger]) -> Ints:
    """Return one number for each row of ``codes`` (n, d), -1 at least, the same for equal rows only.

    Numbers are in mixed radix, numbered anew where 62 bits do not hold them.
    """
    keys, radix = np.zeros(len(codes), dtype=np.int64), 1
    for column in codes.T:
        width = int(column.max(initial=-1)) + 2
        if radix * width >= _LIMIT:
            distinct, keys = np.unique(keys, return_inverse=True)
            radix = max(1, len(distinct))
        keys = keys * width + (column.astype(np.int64) + 1)
        radix *= width
    return keys


def places_of(rows: Codes, known: Codes) -> Ints:
    """Return the place of each of ``rows`` (n, d) among ``known`` (m, d), all different; -1 for none."""
    keys = keyed(np.concatenate([known, rows]))
    own, wanted = keys[: len(known)], keys[len(known) :]
    if not len(own):
        return np.full(len(wanted), -1, dtype=np.int64)
    order = np.argsort(own)
    at = order[np.minimum(np.searchsorted(own, wanted, sorter=order), len(own) - 1)]
    return np.where(own[at] == wanted, at, -1)
