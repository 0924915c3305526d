"""How much of a chart a page can carry; what is left out is said, and stands in the JSON document."""

from __future__ import annotations

import math
from typing import Literal

from ppdm_flow.report.plots.fields import ChartDocument, SeriesDocument

_POINTS = 4000  # marks with tooltip and table cell on one page: about 700 kB
_FEWEST, _MOST = 40, 400
_MOST_LINE_POINTS = 400
_MOST_SERIES = 8
MOST_CHARTS = 100
WHERE = "the rest is in report.json"


def budget(charts: int) -> int:
    """Return how many marks each of ``charts`` charts may have."""
    return max(_FEWEST, min(_MOST, _POINTS // max(1, charts)))


def trimmed(chart: ChartDocument, marks: int) -> tuple[ChartDocument, str]:
    """Return a chart of at most about ``marks`` marks, and a sentence where something was left out."""
    if chart["kind"] == "matrix":
        side = max(8, math.isqrt(2 * marks))
        return _cut(chart, range(min(side, len(chart["x"]))), side)
    if chart["kind"] == "lines":
        stride = max(1, -(-len(chart["x"]) // _MOST_LINE_POINTS))
        return _cut(chart, range(0, len(chart["x"]), stride), _MOST_SERIES)
    width = max(8, marks // max(1, min(len(chart["series"]), _MOST_SERIES)))
    return _cut(chart, range(min(width, len(chart["x"]))), _MOST_SERIES)


def _cut(chart: ChartDocument, keep: range, most_series: int) -> tuple[ChartDocument, str]:
    series = [_picked(one, keep) for one in chart["series"][:most_series]]
    kept = chart | {"x": [chart["x"][i] for i in keep], "series": series}
    gaps = []
    if len(keep) < len(chart["x"]):
        gaps.append(f"{len(keep):,} of {len(chart['x']):,} labels")
    if len(series) < len(chart["series"]):
        gaps.append(f"{len(series):,} of {len(chart['series']):,} {'rows' if chart['kind'] == 'matrix' else 'series'}")
    return kept, f"Shown: {' and '.join(gaps)}; {WHERE}." if gaps else ""


def _picked(series: SeriesDocument, keep: range) -> SeriesDocument:
    picked: SeriesDocument = {"name": series["name"], "y": _at(series["y"], keep)}
    end: Literal["low", "high"]
    for end in ("low", "high"):
        if series.get(end):
            picked[end] = _at(series[end], keep)
    return picked


def _at(values: list[float], keep: range) -> list[float]:
    return [values[i] for i in keep if i < len(values)]
