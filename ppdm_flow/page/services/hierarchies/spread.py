"""How the rows of a column of numbers lie: how many lie below any number."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from itertools import pairwise

from ppdm_flow.mining.hierarchies.coarsening import UnplacedError
from ppdm_flow.mining.hierarchies.intervals import Intervals, decimals, joined
from ppdm_flow.pictures.charts import ticks

POINTS = 4_000
"""Numbers up to which rows are counted exactly: of more, some are kept."""
_BINS = 60
FARTHEST = 1e300
"""Numbers up to which pages draw intervals: widths of those beyond are no numbers of the machine."""

_DIGITS = 700
"""Of edges of intervals: numbers may have 300 digits, and lie one from the other."""


@dataclass(frozen=True, slots=True)
class CumulativeCounts:
    """``up_to[i]`` rows have a value of at most ``points[i]``; the points ascend, and the last is the largest value.

    ``exact``: every value is a point; else a count is wrong by what lies between two points at most.
    """

    points: tuple[Decimal, ...]
    up_to: tuple[int, ...]
    low: Decimal
    exact: bool
    all_integers: bool

    @property
    def high(self) -> Decimal:
        """The largest value."""
        return self.points[-1]

    @property
    def rows(self) -> int:
        """All rows."""
        return self.up_to[-1]

    def below(self, edge: Decimal) -> int:
        """Return how many rows have a value below a number."""
        if edge <= self.low:
            return 0
        place = bisect_left(self.points, edge)
        return self.up_to[place - 1] if place else 0

    def bins(self) -> list[tuple[Decimal, Decimal, int]]:
        """Return intervals of one width that hold all values, with their rows."""
        step = self.step
        if self.all_integers and self.high - self.low < _BINS:
            step = Decimal(1)
        with localcontext(prec=_DIGITS):
            first, last = self.low // step, self.high // step
            edges = [place * step for place in range(int(first) - (self.low < first * step), int(last) + 2)]
        return [(low, high, self.below(high) - self.below(low)) for low, high in pairwise(edges)]

    @property
    def step(self) -> Decimal:
        """A round number of which some dozens cover all values."""
        marks = ticks(float(self.low), float(self.high), _BINS, integers=self.all_integers)
        return Decimal(f"{marks[1] - marks[0]:.10g}")

    def suggestion(self) -> tuple[float, ...]:
        """Return a few round edges that hold all values."""
        marks = ticks(float(self.low), float(self.high), 6, integers=self.all_integers)
        step = marks[1] - marks[0]
        marks = (*marks, marks[-1] + step) if marks[-1] <= float(self.high) else marks
        return tuple(float(f"{mark:.10g}") for mark in marks)


def spread_of(counts: Iterable[tuple[str, int]], values: int) -> CumulativeCounts:
    """Return the spread of values that ascend, ``values`` in number.

    Raises UnplacedError where one is no number, or too far from 0.
    """
    stride = -(-values // POINTS)
    points: list[Decimal] = []
    up_to: list[int] = []
    rows, low, all_integers, number = 0, Decimal(0), True, Decimal(0)
    for place, (text, many) in enumerate(counts, start=1):
        (number,) = _near((text,))
        low = number if place == 1 else low
        rows += many
        all_integers = all_integers and number == number.to_integral_value()
        if place % stride == 0 or place == values:
            points.append(number)
            up_to.append(rows)
    return CumulativeCounts(tuple(points), tuple(up_to), low, stride == 1, all_integers)


def as_edges(texts: Sequence[str]) -> tuple[float, ...]:
    """Return edges as a policy takes them: numbers that ascend, each once.

    Raises UnplacedError where one is none, or too far from 0.
    """
    return tuple(sorted({float(number) for number in _near(texts)}))


def _near(texts: Sequence[str]) -> list[Decimal]:
    numbers = decimals(texts)
    far = sum(abs(number) > FARTHEST for number in numbers)
    if far:
        raise UnplacedError("PPF786", far, "are too far from 0", "a policy can have them all the same")
    return numbers


# Levels of intervals with the rows in each, and what lies outside of all of them.


@dataclass(frozen=True, slots=True)
class Interval:
    """One interval by its label; ``rows`` is None where nothing is known of any data."""

    label: str
    rows: int | None


@dataclass(frozen=True, slots=True)
class IntervalLevels:
    """``levels`` from the finest up; ``outside`` rows lie in no interval."""

    levels: tuple[tuple[Interval, ...], ...]
    outside: int | None

    @property
    def fewest(self) -> int | None:
        """The rows of the emptiest interval of the first level."""
        return min((each.rows for each in self.levels[0] if each.rows is not None), default=None)


def interval_levels(
    edges: Sequence[float], then: Sequence[int], open_ends: str, spread: CumulativeCounts | None
) -> IntervalLevels:
    """Return the levels of a hierarchy of intervals, as the policy language has them."""
    every = [tuple(edges)]
    for together in then:
        every.append(joined(every[-1], together))
    outside = None if spread is None else _outside(edges, open_ends, spread)
    return IntervalLevels(tuple(_level(each, open_ends, spread) for each in every), outside)


def _level(edges: tuple[float, ...], open_ends: str, spread: CumulativeCounts | None) -> tuple[Interval, ...]:
    names = Intervals(edges, open_ends).names()
    if spread is None:
        return tuple(Interval(name, None) for name in names if name is not None)
    below = [0, *(spread.below(_exact(edge)) for edge in edges), spread.rows]
    rows = [high - low for low, high in pairwise(below)]
    return tuple(Interval(name, many) for name, many in zip(names, rows, strict=True) if name is not None)


def _outside(edges: Sequence[float], open_ends: str, spread: CumulativeCounts) -> int:
    below = 0 if open_ends in ("below", "both") else spread.below(_exact(edges[0]))
    above = 0 if open_ends in ("above", "both") else spread.rows - spread.below(_exact(edges[-1]))
    return below + above


def _exact(edge: float) -> Decimal:
    return Decimal(repr(edge))
