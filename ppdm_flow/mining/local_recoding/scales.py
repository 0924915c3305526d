"""The cost of a label: each attribute's values in order, and the normalized certainty penalty of a range of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class RecodedForm(IntEnum):
    """The label for the values of a class: an interval, the lowest common ancestor, or the set of them."""

    INTERVAL = 0
    ANCESTOR = 1
    SET = 2


@dataclass(frozen=True, slots=True, eq=False)
class OrderedScale:
    """One attribute whose values have the codes 0 … ``size`` - 1 in order; codes from ``size`` on are marks.

    A class that holds a mark and anything else costs 1. ``position`` (size,) are the values of an interval, from 0 to
    1. ``maps`` (levels, size) are the labels' codes, leaves first, one label for all last, such that each label covers
    neighbours; ``prices`` (levels, size) the penalty of the label above each value. ``marks`` is how many there are.
    ``importance`` weighs what cuts of the attribute save.
    """

    form: RecodedForm
    size: int
    marks: int = 0
    position: Floats | None = None
    maps: Ints | None = None
    prices: Floats | None = None
    importance: float = 1.0

    @property
    def width(self) -> int:
        """The number of codes."""
        return self.size + self.marks


class Scales(NamedTuple):
    """All attributes, flat, for the kernels: ``begins`` is where an attribute's ``numbers`` and ``labels`` begin."""

    form: Ints
    size: Ints
    width: Ints
    height: Ints
    begins: Ints
    numbers: Floats
    labels: Ints
    importance: Floats


def flat(scales: Sequence[OrderedScale]) -> Scales:
    """Lay the attributes out one after the other."""
    numbers = [_numbers(s) for s in scales]
    labels = [np.zeros(len(n), dtype=np.int64) if s.maps is None else s.maps.ravel() for s, n in zip(scales, numbers)]  # noqa: B905  # equal by construction
    begins = np.cumsum([0, *map(len, numbers)])[:-1]
    return Scales(
        np.array([s.form for s in scales], dtype=np.int64),
        np.array([s.size for s in scales], dtype=np.int64),
        np.array([s.width for s in scales], dtype=np.int64),
        np.array([1 if s.maps is None else len(s.maps) for s in scales], dtype=np.int64),
        begins.astype(np.int64),
        np.concatenate([*numbers, np.zeros(0)]),
        np.concatenate([*labels, np.zeros(0, dtype=np.int64)]),
        np.array([s.importance for s in scales], dtype=np.float64),
    )


def _numbers(scale: OrderedScale) -> Floats:
    if scale.form is RecodedForm.INTERVAL and scale.position is not None:
        return scale.position
    if scale.form is RecodedForm.ANCESTOR and scale.prices is not None:
        return scale.prices.ravel()
    if scale.form is RecodedForm.SET:
        return np.zeros(scale.size)
    raise ValueError("a scale without what its form needs")
