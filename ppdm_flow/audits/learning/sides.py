"""The rows that classifiers learn from, and their features as columns of zeros and ones.

A nominal value gets a column of its own (numbering values would give a tree an order that is not there); a number gets
one column for each cut, set from the cut on, so that a threshold is a column. Cuts and columns come from the training
part; a value that this part lacks sets no column.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy import sparse

from ppdm_flow.core.roles import AttributeType
from ppdm_flow.tables.column import SPECIALS, Column
from ppdm_flow.tables.table import Table

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Truths = npt.NDArray[np.bool_]

NUMERIC = (AttributeType.INTEGER, AttributeType.FLOAT)

MOST_VALUES = 64
"""Nominal values with a column of their own; the others of a feature share one."""

MOST_CUTS = 32
_DENSE_CELLS = 40_000_000

Block = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Feature:
    """One column over the distinct rows. ``numbers`` (categories,) where it is to be understood as a number."""

    name: str
    codes: npt.NDArray[np.int32]
    numbers: Floats | None


@dataclass(frozen=True, slots=True, eq=False)
class LearningSide:
    """Distinct rows of a table: their ``features`` and ``classes`` (distinct,).

    ``place`` (rows,) says which distinct row each row is, ``copies`` (rows,) how many persons it counts.
    """

    features: tuple[Feature, ...]
    classes: Integers
    place: Integers
    copies: Integers

    def without(self, names: frozenset[str]) -> LearningSide:
        """Return the side without some features; rows stay what they are."""
        return LearningSide(
            tuple(f for f in self.features if f.name not in names), self.classes, self.place, self.copies
        )

    def weights(self, copies: Integers) -> Floats:
        """Return the weight of each distinct row, from that of each row."""
        return np.bincount(self.place, weights=copies, minlength=len(self.classes)).astype(np.float64)


def side(table: Table, features: Mapping[str, AttributeType], classes: Integers, copies: Integers) -> LearningSide:
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
    return LearningSide(codes, classes[first], place.reshape(-1).astype(np.int64), copies)


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


@dataclass(frozen=True, slots=True, eq=False)
class Coder:
    """``lookup`` maps (code + 2) to rows of ``patterns``: the zeros and ones of one feature."""

    lookup: npt.NDArray[np.int64]
    patterns: Block

    def block(self, feature: Feature) -> Block:
        """Return the columns of a feature, shape (distinct rows, columns)."""
        coded: Block = self.patterns[self.lookup[feature.codes + SPECIALS]]
        return coded


def fit(feature: Feature, weights: Floats) -> Coder:
    """Choose the columns of one feature from the rows with a positive weight."""
    width = (len(feature.numbers) if feature.numbers is not None else int(feature.codes.max(initial=0)) + 1) + SPECIALS
    share = np.bincount(feature.codes + SPECIALS, weights=weights, minlength=width).astype(np.float64)
    return _nominal(share) if feature.numbers is None else _numeric(share, feature.numbers)


def code(side: LearningSide, weights: Floats) -> Block | sparse.csr_matrix:
    """Return the matrix of all distinct rows, shape (distinct, columns), fitted where ``weights`` are positive."""
    blocks = [fit(f, weights).block(f) for f in side.features]
    rows, columns = len(side.classes), sum(b.shape[1] for b in blocks)
    if rows * columns > _DENSE_CELLS:
        return sparse.csr_matrix(sparse.hstack([sparse.csr_matrix(b) for b in blocks]))
    return np.hstack([np.zeros((rows, 0), dtype=np.float32), *blocks])


def _nominal(share: Floats) -> Coder:
    order = np.argsort(-share, kind="stable")
    present = order[share[order] > 0]
    lookup = np.zeros(len(share), dtype=np.int64)  # row 0 of the patterns: none of the known values
    if len(present) > MOST_VALUES:
        lookup[:] = MOST_VALUES  # the column that the rarer ones share
        lookup[present[: MOST_VALUES - 1]] = np.arange(1, MOST_VALUES)
        columns = MOST_VALUES
    else:
        lookup[present] = np.arange(1, len(present) + 1)
        columns = len(present)
    patterns = np.eye(columns + 1, columns, k=-1, dtype=np.float32)
    return Coder(lookup, patterns[:, 1:] if columns == 2 else patterns)


def _numeric(share: Floats, numbers: Floats) -> Coder:
    """Set a column from each cut on; missing and suppressed cells have columns of their own."""
    order = np.argsort(numbers, kind="stable")
    ordered, weight = numbers[order], share[SPECIALS:][order]
    known = weight > 0
    ordered, weight = ordered[known], weight[known]
    if len(ordered):
        below = np.cumsum(weight) / weight.sum()
        wanted = np.arange(1, MOST_CUTS + 1) / (MOST_CUTS + 1)
        picks = np.unique(np.minimum(np.searchsorted(below, wanted) + 1, len(ordered) - 1))
        picks = picks[picks > 0]
        cuts = (ordered[picks] + ordered[picks - 1]) / 2
    else:
        cuts = np.zeros(0)
    steps = (numbers[:, None] >= cuts[None, :]).astype(np.float32)
    marks = np.zeros((len(share), SPECIALS), dtype=np.float32)
    marks[:SPECIALS] = np.eye(SPECIALS)
    patterns = np.hstack([marks, np.vstack([np.zeros((SPECIALS, len(cuts)), dtype=np.float32), steps])])
    return Coder(np.arange(len(share), dtype=np.int64), patterns)
