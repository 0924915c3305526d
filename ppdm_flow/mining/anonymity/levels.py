"""At which level values are compared: as they are written, or by the interval that they lie in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

NUMBER = r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"
"""The numbers that lie in intervals; any other text is compared as it is."""
BLANK = " \t"
"""What may stand around a number."""
MARK = "\x1f"
"""What the name of an interval begins with, so that no text of the data is one."""

Level = Callable[[pa.StringArray], pa.StringArray]
"""From categories to the texts that stand for them in a comparison, one for each."""


def exact(categories: pa.StringArray) -> pa.StringArray:
    """Compare values as they are written."""
    return categories


@dataclass(frozen=True, slots=True)
class ByInterval:
    """Compare numbers by the half-open interval between ascending ``edges`` that they lie in.

    Numbers below the first edge and from the last one on are two more intervals. The released name of an interval,
    ``[18, 25)``, ``< 18`` or ``>= 65``, stands for it too.
    """

    edges: tuple[float, ...]

    def __call__(self, categories: pa.StringArray) -> pa.StringArray:
        """Return the names of intervals in place of numbers."""
        inside, place = self._places(categories)
        names = pa.array([f"{MARK}{i}" for i in range(len(self.edges) + 1)], pa.string())
        return pc.if_else(pa.array(inside), names.take(pa.array(place)), categories)

    def covers(self, categories: pa.StringArray) -> bool:
        """Whether every text is a number or the name of an interval."""
        return bool(self._places(categories)[0].all())

    def _places(self, categories: pa.StringArray) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.int64]]:
        """Return which texts lie in an interval, and in which one."""
        bare = pc.utf8_trim(categories, characters=BLANK)
        numeric = pc.match_substring_regex(bare, f"^({NUMBER})$").to_numpy(zero_copy_only=False)
        place = np.zeros(len(categories), dtype=np.int64)
        numbers = pc.cast(bare.filter(pa.array(numeric)), pa.float64()).to_numpy(zero_copy_only=False)
        place[numeric] = np.searchsorted(np.array(self.edges), numbers, side="right")
        named = pc.index_in(categories, value_set=pa.array(self.labels, pa.string()))
        known = named.is_valid().to_numpy(zero_copy_only=False)
        place[known] = named.drop_null().to_numpy()
        return numeric | known, place

    @property
    def labels(self) -> tuple[str, ...]:
        """The released names of the intervals, from below the first edge to the last edge and above."""
        edges = [_written(e) for e in self.edges]
        return (f"< {edges[0]}", *(f"[{a}, {b})" for a, b in pairwise(edges)), f">= {edges[-1]}")


def _written(edge: float) -> str:
    exactly = Decimal(repr(float(edge)))
    is_integer = exactly == exactly.to_integral_value()
    return str(int(exactly)) if is_integer else format(exactly.normalize(), "f")
