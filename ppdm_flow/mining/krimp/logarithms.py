"""Logarithms that sizes in bits are made of, computed once: those of small usages, and of supports."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.itemsets.database import ItemDatabase

Floats = npt.NDArray[np.float64]

MOST_LOGS = 1 << 22


def standard_bits(database: ItemDatabase) -> Floats:
    """Return the code length of each item under the standard code table: -log2(support / sum); 0 if it never occurs."""
    supports = database.supports.astype(np.float64)
    bits = np.zeros(len(supports))
    here = supports > 0
    bits[here] = np.log2(max(supports.sum(), 1)) - np.log2(supports[here])
    return bits


def logarithms(rows: int) -> Floats:
    """Return (u + 1) log2 u of the usages u from 0 on that rows can lead to, of the small ones if these are many."""
    counts = np.arange(min(rows, MOST_LOGS) + 1, dtype=np.float64)
    logs: Floats = (counts + 1) * np.log2(np.maximum(counts, 1))
    return logs
