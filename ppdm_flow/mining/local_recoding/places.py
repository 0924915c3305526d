"""Finding rows of codes among known ones."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]
_LIMIT = 1 << 62


def places_of(rows: Codes, known: Codes) -> Ints:
    """Return the place of each of ``rows`` (n, d) among ``known`` (m, d), all different; -1 for none.

    Codes are -1 at least. Rows become numbers in mixed radix, numbered anew where 62 bits do not hold them.
    """
    both = np.concatenate([known, rows]).astype(np.int64) + 1
    keys, radix = np.zeros(len(both), dtype=np.int64), 1
    for column in both.T:
        width = int(column.max(initial=0)) + 1
        if radix * width >= _LIMIT:
            distinct, keys = np.unique(keys, return_inverse=True)
            radix = len(distinct)
        keys = keys * width + column
        radix *= width
    own, wanted = keys[: len(known)], keys[len(known) :]
    if not len(own):
        return np.full(len(wanted), -1, dtype=np.int64)
    order = np.argsort(own)
    at = order[np.minimum(np.searchsorted(own, wanted, sorter=order), len(own) - 1)]
    return np.where(own[at] == wanted, at, -1)
