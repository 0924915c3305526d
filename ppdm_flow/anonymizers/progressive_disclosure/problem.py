"""The input of the search: combinations of cells with their weights, in codes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.int64]
Weights = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Attribute:
    """An attribute whose values are disclosed one after another.

    ``codes`` of shape (combinations,): a value's number, below ``size``, or -1 where the cell stays suppressed
    whatever happens. Values are numbered in the order that breaks ties.
    """

    name: str
    codes: Codes
    size: int


@dataclass(frozen=True, slots=True, eq=False)
class Template:
    """<IC -> pi, h> for one sensitive value. ``hits`` marks the combinations that have it."""

    id: str
    hits: Bools
    confidence: float


@dataclass(frozen=True, slots=True, eq=False)
class Channel:
    """Templates with one inference channel. ``attributes`` are the places of its suppressible attributes.

    ``base`` numbers the combinations by their cells in the channel's other attributes, which stay as they are.
    """

    attributes: tuple[int, ...]
    base: Codes
    templates: tuple[Template, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """``weights`` are row counts, exact in doubles; ``classes`` (combinations,) numbers the class, or None."""

    attributes: tuple[Attribute, ...]
    channels: tuple[Channel, ...]
    weights: Weights
    classes: Codes | None

    @property
    def total(self) -> float:
        """The number of rows."""
        return float(self.weights.sum())

    def by_value(self, attribute: int) -> Weights:
        """Return the rows with each value (last row: stuck cells) in each class, shape (size + 1, classes)."""
        codes = self.attributes[attribute].codes
        size = self.attributes[attribute].size
        classes = np.zeros(len(codes), dtype=np.int64) if self.classes is None else self.classes
        width = int(classes.max(initial=0)) + 1
        key = np.where(codes < 0, size, codes) * width + classes
        return sums(key, self.weights, (size + 1) * width).reshape(size + 1, width)


def renumbered(columns: Sequence[Codes], size: int) -> Codes:
    """Number the distinct rows of ``columns`` (each of shape (size,), codes >= -1) from 0."""
    keys = np.zeros(size, dtype=np.int64)
    for column in columns:
        keys = np.unique(keys * (int(column.max(initial=-1)) + 2) + column + 1, return_inverse=True)[1].astype(np.int64)
    return keys


def sums(places: Codes, weights: Weights, size: int) -> Weights:
    """Add up ``weights`` by place, shape (size,). Exact: row counts stay below 2^53."""
    return np.asarray(np.bincount(places, weights=weights, minlength=size), dtype=np.float64)
