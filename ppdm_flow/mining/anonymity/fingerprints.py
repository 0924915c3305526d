"""128 bits for a row: equal rows have equal ones, whatever codes their tables use."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from ppdm_flow.mining.anonymity.levels import Level
from ppdm_flow.tables.column import SPECIALS, Column

Words = npt.NDArray[np.uint64]

_SALTS = ("ppdm-flow rows a", "ppdm-flow rows b")
"""Keys of SipHash (16 bytes): one for each half."""
_STEP = 0x9E3779B97F4A7C15
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


def fingerprints(columns: Sequence[Column], levels: Sequence[Level], rows: int) -> tuple[Words, Words]:
    """Return both halves of the fingerprints, shape (rows,) each.

    Each cell's text is hashed (SipHash) and mixed with the place of its column (splitmix64); a row's fingerprint is
    the sum over its cells. Two unlike rows among n have equal ones with a probability of about n^2 / 2^129: below
    10^-22 for 10 million. Missing and suppressed cells are values of their own. Memory: 16 bytes a row.
    """
    halves = [np.zeros(rows, dtype=np.uint64) for _ in _SALTS]
    for place, (column, level) in enumerate(zip(columns, levels, strict=True)):
        texts = level(column.categories).to_numpy(zero_copy_only=False).astype(object)
        dense = column.dense
        for half, salt in zip(halves, _SALTS, strict=True):
            half += _of_cells(texts, salt, place)[dense]
    return halves[0], halves[1]


def _of_cells(texts: npt.NDArray[np.object_], salt: str, place: int) -> Words:
    """Return a word for each dense code: suppressed, missing, then the texts."""
    words = np.arange(len(texts) + SPECIALS, dtype=np.uint64)
    if len(texts):
        words[SPECIALS:] = pd.util.hash_array(texts, hash_key=salt, categorize=False)
    return _mixed(words + np.uint64(_STEP * (place + 1) % (1 << 64)))


def _mixed(words: Words) -> Words:
    """Return splitmix64 of each word (Steele, Lea, Flood, OOPSLA 2014)."""
    words = (words ^ (words >> np.uint64(30))) * _MIX[0]
    words = (words ^ (words >> np.uint64(27))) * _MIX[1]
    return words ^ (words >> np.uint64(31))
