"""Rows as points, and points in clusters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sklearn.cluster import KMeans

from ppdm_flow.tables.column import SPECIALS, Column
from ppdm_flow.tables.table import Table

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

SEED = 0
STARTS = 5


def points(table: Table, columns: Sequence[str], most: int) -> Floats:
    """Return the rows as points, shape (rows, dimensions).

    A column of numbers is one dimension, scaled to a standard deviation of 1, missing and suppressed cells at the mean.
    Any other is a dimension a value (special cells too), scaled so that two unlike values are as far apart as two
    numbers that differ by a standard deviation; one of more than ``most`` values is left out.
    """
    parts = [p for name in columns if (p := _dimensions(table[name].compact(), most)) is not None]
    return np.hstack(parts) if parts else np.zeros((len(table), 0))


def _dimensions(column: Column, most: int) -> Floats | None:
    try:
        numbers = column.numbers()
    except pa.ArrowInvalid:
        return _indicators(column) if len(column.categories) <= most else None
    if not len(numbers) or not np.isfinite(numbers).all():
        return None
    known = column.codes >= 0
    values = np.full(len(column), numbers[column.codes[known]].mean())
    values[known] = numbers[column.codes[known]]
    spread = values.std()
    scaled: Floats = (values - values.mean()) / (spread or 1.0)
    return scaled[:, None]


def _indicators(column: Column) -> Floats:
    coordinates = np.zeros((len(column), len(column.categories) + SPECIALS))
    coordinates[np.arange(len(column)), column.dense] = np.sqrt(0.5)
    return coordinates


def clustered(rows: Floats, clusters: int) -> tuple[Integers, float]:
    """Return the cluster of each row, largest cluster first, and the share of the variance that clusters explain."""
    number = min(clusters, len(np.unique(rows, axis=0)))
    model = KMeans(number, n_init=STARTS, random_state=SEED).fit(rows)
    sizes = np.bincount(model.labels_, minlength=number)
    rank = np.empty(number, dtype=np.int64)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(number)
    total = float(((rows - rows.mean(axis=0)) ** 2).sum())
    return rank[model.labels_], 1.0 - float(model.inertia_) / total if total > 0 else 1.0
