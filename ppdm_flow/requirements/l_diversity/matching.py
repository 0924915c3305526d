"""Distinct l where cells stand for several values: the largest matching of rows and values that they can have.

A value counts once, and a row for one value: three rows that show a cell behind which two values can be count for two,
and one such row for one. Where each value is behind one cell only, this is the sum of min(rows, values) over the cells.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.exposure.histograms import Code, Histograms
from ppdm_flow.tables.column import SPECIALS

Ints = npt.NDArray[np.int64]


def distinct_values(histograms: Histograms) -> Ints:
    """Return how many values each class has, shape (classes,), with rows and values matched where cells are shared."""
    code, shown = histograms.behind, histograms.shown
    if not isinstance(code, Code) or shown is None:
        return np.diff(histograms.cells.begins)
    cell = shown.value.astype(np.int64) - SPECIALS
    if code.ambiguous and _shared(code, cell, shown.owner):
        from ppdm_flow.requirements.l_diversity.matching_kernel import matched  # noqa: PLC0415  # compiled: takes time to start

        shares = code.shares
        begins = shares.indptr.astype(np.int64)
        rows = np.minimum(np.rint(shown.count), np.iinfo(np.int32).max).astype(np.int64)
        return matched(shown.begins, cell, rows, begins, shares.indices.astype(np.int64), shares.shape[1])
    each = np.minimum(shown.count, np.diff(code.shares.indptr)[cell])
    return np.bincount(shown.owner, each, len(histograms)).astype(np.int64)


def _shared(code: Code, cell: Ints, owner: Ints) -> bool:
    """Whether in some class a value is behind several of the cells that are shown."""
    behind = code.shares[cell]
    keys = np.repeat(owner, np.diff(behind.indptr)) * behind.shape[1] + behind.indices
    return len(np.unique(keys)) < len(keys)
