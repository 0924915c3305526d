"""Round bounds for intervals: a grid on which every interval of an attribute begins and ends.

An interval from the least to the greatest value of a class ends at values of people. On a grid, a value counts as the
cell that it is in, classes are cut between cells, and a label goes from the begin of its first cell to the end of its
last one: it covers what its class has, and the intervals of classes that were cut apart do not overlap.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal, localcontext

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.anonymizers.mondrian.spec import IntervalEnds
from ppdm_flow.core.roles import AttributeType
from ppdm_flow.mining.hierarchies.coarsening import UnplacedError
from ppdm_flow.mining.hierarchies.intervals import Intervals, decimals, written
from ppdm_flow.tables.numeric.column import outside, parsed, texts_of

_MICROSECONDS = 1_000_000
_DIGITS = 800
"""Decimal digits with which no number that `decimals` lets pass loses any."""


@dataclass(frozen=True, slots=True)
class CutInterval:
    """The numbers from ``low`` up to ``high``, which is not one of them; ``begin`` and ``end`` are their texts.

    None for one that is open, whose number is then that of a value. ``alone`` is the text of the only whole number that
    the cell has, where it has no other.
    """

    low: Decimal
    high: Decimal
    begin: str | None
    end: str | None
    alone: str | None = None


def cells_of_numbers(texts: Sequence[str], ends: IntervalEnds, *, integers: bool) -> list[CutInterval]:
    """Return the cell of each number. Raises UnplacedError where one is none."""
    numbers = decimals(texts)
    with localcontext(prec=_DIGITS):
        if ends.round is not None:
            base = Decimal(repr(ends.round))
            return [_cell(n, base, integers=integers) for n in numbers]
        digits, least = ends.significant or 1, _least_exponent(numbers)
        return [_significant_cell(n, digits, least, integers=integers) for n in numbers]


def _cell(number: Decimal, width: Decimal, *, integers: bool) -> CutInterval:
    if integers:
        width = max(width, Decimal(1))
    low = (number / width).quantize(Decimal(1), ROUND_FLOOR) * width
    alone = written(low) if integers and width == 1 else None
    return CutInterval(low, low + width, written(low), written(low + width), alone)


def _least_exponent(numbers: Sequence[Decimal]) -> int:
    """Return the power of ten that the smallest positive number has; of zero nothing else can be told."""
    return min((n.adjusted() for n in numbers if n > 0), default=0)


def _significant_cell(number: Decimal, digits: int, least: int, *, integers: bool) -> CutInterval:
    """Return the cell of all numbers that agree in so many digits; that of 0 ends where positive numbers begin."""
    if number == 0:
        return _cell(number, Decimal(1).scaleb(least), integers=integers)
    exponent = number.adjusted()
    if number < 0 and -number == Decimal(1).scaleb(exponent):  # cells have no end: -999 follows -1000
        exponent -= 1
    return _cell(number, Decimal(1).scaleb(exponent - digits + 1), integers=integers)


def cells_of_moments(texts: Sequence[str], ends: IntervalEnds, kind: AttributeType) -> list[CutInterval]:
    """Return the cell of each date or timestamp: of so many days or seconds, or for ``significant`` of a month.

    Raises UnplacedError where one is none.
    """
    read = parsed(pa.array(texts, pa.string()), kind)
    if read.bad.any():
        raise UnplacedError("PPF786", int(read.bad.sum()), "are not dates in ISO 8601 form")
    unit = "D" if kind is AttributeType.DATE else "us"
    if ends.round is None:
        months = read.values.astype(f"datetime64[{unit}]").astype("datetime64[M]")
        low, high = (m.astype(f"datetime64[{unit}]").astype(np.int64) for m in (months, months + 1))
    else:
        width = max(1, round(ends.round * (1 if kind is AttributeType.DATE else _MICROSECONDS)))
        low = read.values // width * width
        high = low + width
    begins, ends_ = (_texts_within(numbers, kind) for numbers in (low, high))
    return [
        CutInterval(Decimal(a), Decimal(b), begin, end)
        for a, b, begin, end in zip(low.tolist(), high.tolist(), begins, ends_, strict=True)
    ]


def _texts_within(numbers: npt.NDArray[np.int64], kind: AttributeType) -> list[str | None]:
    """Return the texts of moments, None for those before the year 1 or after 9999."""
    beyond = outside(numbers, kind)
    texts = texts_of(np.where(beyond, 0, numbers), kind).to_pylist()
    return [None if gone else text for text, gone in zip(texts, beyond.tolist(), strict=True)]


def cells_of_hierarchy(texts: Sequence[str], edges: Sequence[float], open_ends: str) -> list[CutInterval]:
    """Return the interval of a hierarchy in which each number is. Raises UnplacedError for one that is in none."""
    Intervals(tuple(edges), open_ends).labels(texts)
    exact, numbers = [Decimal(repr(e)) for e in edges], decimals(texts)
    place = [bisect_right(exact, n) for n in numbers]
    least, most = min(numbers, default=Decimal(0)), max(numbers, default=Decimal(0))
    return [
        CutInterval(
            exact[at - 1] if at else least,
            exact[at] if at < len(exact) else most,
            written(exact[at - 1]) if at else None,
            written(exact[at]) if at < len(exact) else None,
        )
        for at in place
    ]
