"""Numbers at equal distances: what a column of so many decimals can hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

MOST_DECIMALS = 9
_REACH = 2**52


@dataclass(frozen=True, slots=True)
class NumberGrid:
    """Number i, from 0, is (``start`` + i) / 10^``decimals``; ``padded``: trailing zeros are written.

    >>> Grid(-15, 1, False).texts(np.array([0, 5, 6])).to_pylist()
    ['-1.5', '-1', '-0.9']
    """

    start: int
    decimals: int
    padded: bool

    def at_or_above(self, number: Decimal) -> int:
        """Return the first number that is not less."""
        return int(self._steps(number).to_integral_value("ROUND_CEILING")) - self.start

    def number(self, value: Decimal) -> int | None:
        """Return the number that stands for a value, or None where it lies between two."""
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
