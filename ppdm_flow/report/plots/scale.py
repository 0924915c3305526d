"""From figures to places: linear scales with round ticks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ppdm_flow.report.amounts import amount
from ppdm_flow.report.plots.fields import ChartDocument, SeriesDocument

_ROUND = (1.0, 2.0, 2.5, 5.0, 10.0)
_FLAT = 1e-9  # a range this narrow, relative to its ends, is drawn as a point
_TINY = 1e-280
_HUGE = 1e300
_SHARE_WORDS = ("share", "probab", "frequen", "confiden", "risk", "rate", "distance", "posterior", "prior", "%")


@dataclass(frozen=True, slots=True)
class Scale:
    """A linear map of [low, high] to [start, end]; values outside are put at the ends."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Return the place of ``value``, to a tenth of a pixel."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 1)


def ticks(low: float, high: float, count: int = 5, *, integers: bool = False) -> tuple[float, ...]:
    """Return about ``count`` round numbers that cover [low, high], more than one even where that is a point.

    ``integers`` asks for whole numbers, as counts have.
    """
    largest = max(abs(low), abs(high))
    if high - low <= max(_FLAT * largest, _TINY):
        high = low + (largest if largest > _TINY else 1.0)
    raw = (high - low) / max(1, count - 1)
    size = 10.0 ** math.floor(math.log10(raw))
    step = (
        1.0 if integers and raw < 1 else next(size * factor for factor in _ROUND if size * factor >= raw * (1 - 1e-9))
    )
    first = math.floor(low / step + 1e-9)
    last = math.ceil(high / step - 1e-9)
    return tuple(i * step for i in range(first, last + 1))


def extent(series: Sequence[SeriesDocument], *, zero: bool) -> tuple[float, float]:
    """Return the least and the largest value of all series and their intervals; with 0 if ``zero``."""
    values: list[float] = [0.0] if zero else []
    for one in series:
        values += [*one["y"], *one.get("low", ()), *one.get("high", ())]
    return (max(min(values), -_HUGE), min(max(values), _HUGE)) if values else (0.0, 1.0)


def unit_of(chart: ChartDocument) -> str:
    """Return ``share`` where the chart's values are shares by their label and range, else no unit."""
    values: Iterable[float] = (y for one in chart["series"] for y in one["y"])
    words = f"{chart.get('y_label', '')} {chart.get('title', '')}".lower()
    named = any(word in words for word in _SHARE_WORDS)
    return "share" if named and all(-1 <= value <= 1 for value in values) else ""


def counts(chart: ChartDocument) -> bool:
    """Whether all values of a chart are whole numbers."""
    return all(float(y).is_integer() for one in chart["series"] for y in one["y"])


def tick_text(value: float, unit: str, step: float) -> str:
    """Write a tick as finely as the distance between ticks needs."""
    if abs(value) < step / 1e6:
        value = 0.0
    digits = max(3, math.ceil(math.log10(abs(value) / step)) + 2) if value else 3
    return amount(value, unit, digits)
