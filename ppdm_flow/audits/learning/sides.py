"""The rows that classifiers learn from: features and classes as codes, equal rows once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.core.roles import AttributeType
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.table import Table

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Truths = npt.NDArray[np.bool_]

NUMERIC = (AttributeType.INTEGER, AttributeType.FLOAT)


@dataclass(frozen=True, slots=True, eq=False)
class Feature:
    """One column over the distinct rows. ``numbers`` (categories,) where it is to be understood as a number."""

    name: str
    codes: npt.NDArray[np.int32]
    numbers: Floats | None


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """Distinct rows of a table: their ``features`` and ``classes`` (distinct,).

    ``place`` (rows,) says which distinct row each row is, ``copies`` (rows,) how many persons it stands for.
    """

    features: tuple[Feature, ...]
    classes: Integers
    place: Integers
    copies: Integers

    def without(self, names: frozenset[str]) -> Side:
        """Return the side without some features; rows stay what they are."""
        return Side(tuple(f for f in self.features if f.name not in names), self.classes, self.place, self.copies)

    def weights(self, copies: Integers) -> Floats:
        """Return the weight of each distinct row, from that of each row."""
        return np.bincount(self.place, weights=copies, minlength=len(self.classes)).astype(np.float64)


def side(table: Table, features: Mapping[str, AttributeType], classes: Integers, copies: Integers) -> Side:
    """Collapse equal rows of ``table``; ``features`` are its columns with their types."""
    keys = classes.copy()
    for name in features:
        dense = table[name].dense.astype(np.int64)
        keys = np.unique(keys * np.int64(table[name].width) + dense, return_inverse=True)[1].reshape(-1)
    _, first, place = np.unique(keys, return_index=True, return_inverse=True)
    codes = tuple(
        Feature(name, table[name].codes[first], _numbers(table[name]) if type_ in NUMERIC else None)
        for name, type_ in features.items()
    )
    return Side(codes, classes[first], place.reshape(-1).astype(np.int64), copies)


def _numbers(column: Column) -> Floats | None:
    """Return the categories as numbers, or None where one is none (an interval, a rounded range)."""
    try:
        numbers = column.compact().numbers()
    except pa.ArrowInvalid:
        return None
    if not np.isfinite(numbers).all():
        return None
    used = column.in_use()
    out = np.zeros(len(used))
    names = column.categories.take(pa.array(np.flatnonzero(used)))
    out[used] = names.cast(pa.float64()).to_numpy(zero_copy_only=False)
    return out
