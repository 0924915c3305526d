"""Distinct l where cells stand for several values: the largest matching of rows and values that they can have.

A value counts once, and a row for one value: three rows that show a cell behind which two values can be count for two,
and one such row for one. Where each value is behind one cell only, this is the sum of min(rows, values) over the cells.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.exposure.histograms import Code, Histograms
from ppdm_flow.mining.exposure.sparse import largest_flow
from ppdm_flow.tables.column import SPECIALS

Ints = npt.NDArray[np.int64]


def distinct_values(histograms: Histograms) -> Ints:
    """Return how many values each class has, shape (classes,), with rows and values matched where cells are shared."""
    code, shown = histograms.behind, histograms.shown
    if not isinstance(code, Code) or shown is None:
        return np.diff(histograms.cells.begins)
    cell = shown.value.astype(np.int64) - SPECIALS
    if code.ambiguous and _shared(code, cell, shown.owner):
        return matched(shown.owner, np.rint(shown.count), code.shares[cell], len(histograms))
    each = np.minimum(shown.count, np.diff(code.shares.indptr)[cell])
    return np.bincount(shown.owner, each, len(histograms)).astype(np.int64)


def matched(owner: Ints, rows: npt.NDArray[np.float64], behind: Any, classes: int) -> Ints:
    """Return the size of the largest matching in each class.

    ``owner`` is the class of each cell, ``rows`` how many show it, ``behind`` (cells, values) a CSR matrix with an
    entry for each value that it may stand for. It is a largest flow: from a cell as much as rows show it, to a value of
    a class once.
    """
    cells, width = len(owner), np.diff(behind.indptr)
    keys = np.repeat(owner, width) * behind.shape[1] + behind.indices
    values, value = np.unique(keys, return_inverse=True)
    cell_nodes, value_nodes = 1 + np.arange(cells), 1 + cells + np.arange(len(values))
    end = 1 + cells + len(values)
    source = np.concatenate([np.zeros(cells, dtype=np.int64), np.repeat(cell_nodes, width), value_nodes])
    target = np.concatenate([cell_nodes, value_nodes[value], np.full(len(values), end)])
    capacity = np.concatenate([np.minimum(rows, width), np.ones(len(keys) + len(values))])
    taken = largest_flow(source, target, capacity, end + 1)[1 : 1 + cells]
    return np.bincount(owner, taken, classes).astype(np.int64)


def _shared(code: Code, cell: Ints, owner: Ints) -> bool:
    """Whether in some class a value is behind several of the cells that are shown."""
    behind = code.shares[cell]
    keys = np.repeat(owner, np.diff(behind.indptr)) * behind.shape[1] + behind.indices
    return len(np.unique(keys)) < len(keys)
