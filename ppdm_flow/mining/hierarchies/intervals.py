"""Numbers as texts: reading, writing, rounding, intervals, top and bottom coding."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_UP, Decimal, InvalidOperation, localcontext
from itertools import pairwise

from ppdm_flow.mining.hierarchies.coarsening import UnplacedError


def decimals(values: Sequence[str]) -> list[Decimal]:
    """Return the values as exact numbers. Raises UnplacedError where some are none, infinity and NaN included."""
    read = [_decimal(v) for v in values]
    numbers = [d for d in read if d is not None]
    if len(numbers) < len(read):
        wrong = len(read) - len(numbers)
        raise UnplacedError(
            "PPF786", wrong, "are not numbers", "list spellings of a missing value under `source.missing`"
        )
    return numbers


def written(number: Decimal | float) -> str:
    """Return plain digits without trailing zeros: ``18``, ``0.5``, ``-3``."""
    exact = number if isinstance(number, Decimal) else Decimal(repr(number))
    if exact == exact.to_integral_value():
        return str(int(exact))
    return format(exact.normalize(), "f")


def _decimal(text: str) -> Decimal | None:
    if "_" in text:
        return None  # Python's own digit grouping, not a number of the data
    try:
        number = Decimal(text.strip())
    except InvalidOperation:
        return None
    return number if number.is_finite() and abs(number.adjusted()) < 400 else None


@dataclass(frozen=True, slots=True)
class Intervals:
    """Half-open [a, b) between ascending ``edges``; values beyond an open end are ``< a`` or ``>= b``.

    >>> Intervals((0, 18, 65), "above").labels(["17.5", "18", "80"])
    ['[0, 18)', '[18, 65)', '>= 65']
    """

    edges: tuple[float, ...]
    open_ends: str = "none"

    def labels(self, values: Sequence[str]) -> list[str]:
        """Return ``[18, 25)`` for 18 up to but not including 25."""
        exact = [Decimal(repr(e)) for e in self.edges]
        names = self.names()
        places = [bisect_right(exact, number) for number in decimals(values)]
        outside = sum(names[place] is None for place in places)
        if outside:
            help_text = "widen the edges, or allow values beyond them with `open_ends: below | above | both`"
            raise UnplacedError("PPF789", outside, "lie outside of all intervals", help_text)
        return [names[place] or "" for place in places]

    def describe(self) -> str:
        """Return how many intervals there are."""
        return f"{len(self.edges) - 1} intervals"

    def names(self) -> list[str | None]:
        """Return the label by the number of edges at or below a value; None where there is none."""
        edges = [written(e) for e in self.edges]
        below = f"< {edges[0]}" if self.open_ends in ("below", "both") else None
        above = f">= {edges[-1]}" if self.open_ends in ("above", "both") else None
        return [below, *(f"[{a}, {b})" for a, b in pairwise(edges)), above]


def joined(edges: Sequence[float], together: int) -> tuple[float, ...]:
    """Return the edges of intervals that each join so many neighbours; the last one takes what is left.

    >>> joined((0, 10, 20, 30), 2)
    (0, 20, 30)
    """
    kept = tuple(edges[:-1:together])
    return (*kept, edges[-1])


@dataclass(frozen=True, slots=True)
class Rounding:
    """The nearest multiple of ``base``; halves go away from zero. Computed in decimals, so 0.1 means 0.1.

    >>> Rounding(1000).labels(["1499", "1500"])
    ['1000', '2000']
    """

    base: float

    def labels(self, values: Sequence[str]) -> list[str]:
        """Return the multiples."""
        base = Decimal(repr(self.base))
        with localcontext(prec=800):  # no number that `decimals` lets pass loses a digit
            return [written((n / base).quantize(Decimal(1), ROUND_HALF_UP) * base) for n in decimals(values)]

    def describe(self) -> str:
        """Return the base."""
        return f"multiples of {written(self.base)}"


@dataclass(frozen=True, slots=True)
class Coding:
    """Bottom and top coding: ``<= bottom``, ``>= top``, and what lies between stays as it is, or is rounded.

    What would be rounded to an end or beyond is rounded to the next multiple between them: 89 is not ``>= 90``, nor may
    it be told as 90 where 90 is not. ``as_numbers`` writes the ends themselves: then all labels are numbers.

    >>> Coding(None, 90).labels(["42", "97"])
    ['42', '>= 90']
    >>> Coding(None, 90, Rounding(10)).labels(["42", "89", "97"])
    ['40', '80', '>= 90']
    >>> Coding(None, 90, Rounding(10), as_numbers=True).labels(["42", "89", "97"])
    ['40', '90', '90']
    """

    bottom: float | None
    top: float | None
    rounding: Rounding | None = None
    as_numbers: bool = False

    def labels(self, values: Sequence[str]) -> list[str]:
        """Return the coded values."""
        low = None if self.bottom is None else Decimal(repr(self.bottom))
        high = None if self.top is None else Decimal(repr(self.top))
        between = values if self.rounding is None else self._rounded(self.rounding, values, low, high)
        return [self._label(text, n, low, high) for text, n in zip(between, decimals(values), strict=True)]

    def _rounded(
        self, rounding: Rounding, values: Sequence[str], low: Decimal | None, high: Decimal | None
    ) -> list[str]:
        labels = rounding.labels(values)
        if self.as_numbers:
            return [self._clipped(text, low, high) for text in labels]
        base = Decimal(repr(rounding.base))
        with localcontext(prec=800):
            down = None if high is None else (high / base).to_integral_value(ROUND_CEILING) * base - base
            up = None if low is None else (low / base).to_integral_value(ROUND_FLOOR) * base + base
        return [self._clipped(text, up, down) for text in labels]

    @staticmethod
    def _clipped(text: str, least: Decimal | None, most: Decimal | None) -> str:
        number = Decimal(text)
        if most is not None and number > most:
            return written(most)
        return written(least) if least is not None and number < least else text

    def describe(self) -> str:
        """Return which ends are coded, and how the others are rounded."""
        ends = [name for name, end in (("bottom", self.bottom), ("top", self.top)) if end is not None]
        text = f"{' and '.join(ends)} coding"
        return text if self.rounding is None else f"{text}, {self.rounding.describe()}"

    def _label(self, text: str, number: Decimal, low: Decimal | None, high: Decimal | None) -> str:
        if low is not None and number <= low:
            return written(low) if self.as_numbers else f"<= {written(low)}"
        if high is not None and number >= high:
            return written(high) if self.as_numbers else f">= {written(high)}"
        return text
