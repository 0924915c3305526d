"""Rows that have the same values, numbered."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ppdm_flow.tables.column import Column


def groups_of(columns: Sequence[Column], rows: int) -> npt.NDArray[np.int64]:
    """Return a number from 0 for each row, shape (rows,), equal for rows that are equal in every column.

    A missing and a suppressed cell are values of their own. Numbers depend on the coding: they name nothing.
    """
    numbers = np.zeros(rows, dtype=np.int64)
    for column in columns:
        _, numbers = np.unique(numbers * column.width + column.dense, return_inverse=True)
    return numbers


def rows_by_group(rows: npt.NDArray[np.int64], groups: npt.NDArray[np.int64]) -> list[npt.NDArray[np.int64]]:
    """Return those of ``rows``, ascending positions, that are in each group; ``groups`` (all rows,) are numbers."""
    order = rows[np.argsort(groups[rows], kind="stable")]
    return np.split(order, np.flatnonzero(np.diff(groups[order])) + 1) if len(order) else []
