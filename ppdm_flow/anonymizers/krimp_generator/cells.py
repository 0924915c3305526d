"""Makes the cells of an attribute: the items of the model become numbers, and numbers become texts.

While rows may still be rejected, values are ``raw`` numbers: below zero they are the special marks, and from zero on
the maker defines them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.tables.column import Codes, Column

Raw = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

NOWHERE = -3
"""The code of a value that the original does not have."""


class Maker(Protocol):
    """Makes the cells of one attribute; ``draws`` is how many words a row needs for it."""

    @property
    def draws(self) -> int:
        """0 or 1."""
        ...

    def raw(self, codes: Codes, words: Words) -> Raw:
        """Return the value of each cell from its item's code; ``words`` (rows,) are uniform, or empty."""
        ...

    def column(self, raw: Raw) -> Column:
        """Return the cells as a table has them."""
        ...

    def original(self, raw: Raw) -> Raw:
        """Return the cells by the original's categories: its codes, its marks, or ``NOWHERE``."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class OfOriginal:
    """Cells have values of the original, by its codes."""

    categories: pa.StringArray

    def column(self, raw: Raw) -> Column:
        """Return a column with the original's categories."""
        return Column(raw.astype(np.int32), self.categories)

    def original(self, raw: Raw) -> Raw:
        """Return the codes."""
        return raw


class WithinIntervals(ABC):
    """Items are intervals, within which a value is drawn; special marks stay."""

    __slots__ = ()

    @property
    def draws(self) -> int:
        """One."""
        return 1

    def raw(self, codes: Codes, words: Words) -> Raw:
        """Draw within the intervals."""
        out = codes.astype(np.int64)
        inside = codes >= 0
        out[inside] = self.drawn(codes[inside], words[inside])
        return out

    @abstractmethod
    def drawn(self, intervals: Codes, words: Words) -> Raw:
        """Return a value within each interval."""


@dataclass(frozen=True, slots=True, eq=False)
class ItemValue(OfOriginal):
    """The item is the value."""

    @property
    def draws(self) -> int:
        """None."""
        return 0

    def raw(self, codes: Codes, _words: Words) -> Raw:
        """Return the codes."""
        return codes.astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class EmpiricalNumber(WithinIntervals, OfOriginal):
    """The item is an interval; the value is one of the original's within it, as frequent as it is there.

    ``order`` (values,): the original's codes, interval by interval; ``reach`` (values,): the running sum of their
    counts; ``begin`` (intervals + 1,): the sum before each interval.
    """

    order: Raw
    reach: Raw
    begin: Raw

    def drawn(self, intervals: Codes, words: Words) -> Raw:
        """Draw by frequency."""
        low, high = self.begin[intervals], self.begin[intervals + 1]
        at = low + scaled(words, high - low)
        return self.order[np.searchsorted(self.reach, at, side="right")]


# Numbers at equal distances: what a column of so many decimals can hold.


@dataclass(frozen=True, slots=True)
class NumberGrid:
    """Number i, from 0, is (``start`` + i) / 10^``decimals``; ``padded``: trailing zeros are written.

    >>> NumberGrid(-15, 1, False).texts(np.array([0, 5, 6])).to_pylist()
    ['-1.5', '-1', '-0.9']
    """

    start: int
    decimals: int
    padded: bool

    def at_or_above(self, number: Decimal) -> int:
        """Return the first number that is not less."""
        return int(self._steps(number).to_integral_value("ROUND_CEILING")) - self.start

    def number(self, value: Decimal) -> int | None:
        """Return the number of a value, or None where it lies between two."""
        steps = self._steps(value)
        return int(steps) - self.start if steps == steps.to_integral_value() else None

    def texts(self, numbers: npt.NDArray[np.int64]) -> pa.StringArray:
        """Return plain digits."""
        steps = numbers + self.start
        if not self.decimals:
            return pc.cast(pa.array(steps), pa.string())
        base = 10**self.decimals
        integers = pc.cast(pa.array(np.abs(steps) // base), pa.string())
        part = pc.utf8_lpad(pc.cast(pa.array(np.abs(steps) % base), pa.string()), self.decimals, "0")
        sign = pa.array(np.where(steps < 0, "-", ""), pa.string())
        text = pc.binary_join_element_wise(sign, integers, "")
        text = pc.binary_join_element_wise(text, part, ".")
        return text if self.padded else pc.utf8_rtrim(pc.utf8_rtrim(text, "0"), ".")

    def _steps(self, number: Decimal) -> Decimal:
        return number.scaleb(self.decimals)


@dataclass(frozen=True, slots=True, eq=False)
class UniformNumber(WithinIntervals):
    """The item is an interval; the value is any number within it, with as many decimals as the original's have.

    ``first`` and ``size`` (intervals,): the grid numbers of each interval, counted from the least of all. ``known``
    (values,), ascending, are the grid numbers of the original's values, ``code`` (values,) their codes.
    """

    grid: NumberGrid
    first: Raw
    size: Raw
    known: Raw
    code: Raw

    def drawn(self, intervals: Codes, words: Words) -> Raw:
        """Draw evenly."""
        return self.first[intervals] + scaled(words, self.size[intervals])

    def column(self, raw: Raw) -> Column:
        """Write the numbers."""
        distinct, codes = np.unique(raw, return_inverse=True)
        marks = int(np.searchsorted(distinct, 0))
        code_map = np.concatenate([distinct[:marks], np.arange(len(distinct) - marks)])
        return Column(code_map[codes].astype(np.int32), self.grid.texts(distinct[marks:]))

    def original(self, raw: Raw) -> Raw:
        """Look the numbers up among the original's."""
        if not len(self.known):
            return np.where(raw < 0, raw, NOWHERE)
        at = np.minimum(np.searchsorted(self.known, raw), len(self.known) - 1)
        codes = np.where(self.known[at] == raw, self.code[at], NOWHERE)
        return np.where(raw < 0, raw, codes)


def scaled(words: Words, bounds: Raw) -> Raw:
    """Return integers, uniform below ``bounds`` (less than 2^53) but for 2^-11 of their size at the most."""
    share = (words >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return np.minimum((share * bounds).astype(np.int64), bounds - 1)


MOST_DECIMALS = 9
_REACH = 2**52


def grid_of(
    values: Sequence[str], numbers: Sequence[Decimal], edges: Sequence[Decimal], *, integers: bool
) -> NumberGrid:
    """Return the grid of a column: the decimals of its values, so far as numbers between the edges can be told apart.

    ``integers``: integers only.
    """
    decimals = 0 if integers else max((_decimals(n) for n in numbers), default=0)
    most = max(abs(edge) for edge in edges)
    decimals = min(decimals, MOST_DECIMALS)
    while decimals and most.scaleb(decimals) >= _REACH:
        decimals -= 1
    padded = any("." in v and v.strip().endswith("0") for v in values)
    start = int(edges[0].scaleb(decimals).to_integral_value("ROUND_CEILING"))
    return NumberGrid(start, decimals, padded)


def _decimals(number: Decimal) -> int:
    exponent = number.as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0
