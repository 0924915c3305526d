"""Measures of equivalence classes over one sensitive attribute, all classes at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.recoding.grouping import Cells

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def distinct(cells: Cells) -> Ints:
    """Return the number of values in each class."""
    return np.diff(cells.begins)


def shares(cells: Cells, sizes: Ints) -> Floats:
    """Return the share of each cell in its class."""
    found: Floats = cells.count / np.repeat(np.where(sizes > 0, sizes, 1), distinct(cells))
    return found


def added(cells: Cells, terms: Floats) -> Floats:
    """Add up one number for each cell, class by class."""
    return np.bincount(cells.owner, terms, len(cells.begins) - 1).astype(np.float64)


def largest(begins: Ints, count: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the largest of each class's numbers, 0 for a class without any."""
    out = np.zeros(len(begins) - 1, dtype=count.dtype)
    some = begins[:-1] < begins[1:]
    if some.any():
        out[some] = np.maximum.reduceat(count, begins[:-1][some])
    return out
