"""A chart as the page shows it: drawing, legend, data table and a sentence for who cannot see it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from ppdm_flow.report.amounts import amount, between
from ppdm_flow.report.plots.bars import bars
from ppdm_flow.report.plots.drawing import Drawing, styles
from ppdm_flow.report.plots.fields import ChartDocument, SeriesDocument
from ppdm_flow.report.plots.forest import forest
from ppdm_flow.report.plots.frame import colours, ends
from ppdm_flow.report.plots.lines import lines
from ppdm_flow.report.plots.matrix import matrix
from ppdm_flow.report.plots.scale import unit_of

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


_KINDS: dict[str, Callable[[ChartDocument], Drawing]] = {
    "bars": bars,
    "lines": lines,
    "matrix": matrix,
    "forest": forest,
}
_WORDS = {"bars": "Bar chart", "lines": "Line chart", "matrix": "Matrix", "forest": "Estimates and intervals"}
_MOST_ROWS = 60


@dataclass(frozen=True, slots=True)
class Picture:
    """``drawing`` is None where there is nothing to draw; ``rows`` begin with their label."""

    id: str
    title: str
    release: str
    note: str
    cut: str
    legend: tuple[tuple[str, str], ...]
    drawing: Drawing | None
    spoken: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    more: int


def picture(chart: ChartDocument, marks: int) -> Picture:
    """Return a chart's picture of at most about ``marks`` marks. Raises ValueError for a kind that is not known."""
    if chart["kind"] not in _KINDS:
        raise ValueError(f"the kind of a chart must be one of {sorted(_KINDS)}")
    shown, cut = trimmed(chart, marks)
    empty = not shown["x"] or not any(one["y"] for one in shown["series"])
    head, rows = _table(shown)
    return Picture(
        id=chart["id"],
        title=chart["title"],
        release=chart.get("release", ""),
        note=chart["note"],
        cut=cut,
        legend=_legend(shown),
        drawing=None if empty else _KINDS[chart["kind"]](shown),
        spoken="nothing to show" if empty else _spoken(shown),
        head=head,
        rows=rows[:_MOST_ROWS],
        more=max(0, len(rows) - _MOST_ROWS),
    )


def _legend(chart: ChartDocument) -> tuple[tuple[str, str], ...]:
    if chart["kind"] == "matrix" or len(chart["series"]) < 2:
        return ()
    names = [one["name"] for one in chart["series"]]
    return tuple(zip(names, colours(chart) if chart["kind"] == "bars" else styles(names), strict=True))


def _spoken(chart: ChartDocument) -> str:
    values = [y for one in chart["series"] for y in one["y"]]
    unit, kind = unit_of(chart), _WORDS[chart["kind"]]
    names = ", ".join(one["name"] for one in chart["series"][:4] if one["name"])
    shape = f"{len(chart['x'])} labels" + (f", {names}" if names else "")
    return f"{kind} of {shape}: from {amount(min(values), unit)} to {amount(max(values), unit)}. The data stands below."


def _table(chart: ChartDocument) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    unit = unit_of(chart)
    if chart["kind"] == "matrix":
        rows = tuple((row["name"], *(amount(y, unit) for y in row["y"])) for row in chart["series"])
        return ("", *chart["x"]), rows
    head = (chart["x_label"], *(one["name"] or chart["y_label"] or "value" for one in chart["series"]))
    count = range(len(chart["x"]))
    return head, tuple((chart["x"][i], *(_cell(chart, one, i, unit) for one in chart["series"])) for i in count)


def _cell(chart: ChartDocument, series: SeriesDocument, index: int, unit: str) -> str:
    if index >= len(series["y"]):
        return ""
    text = amount(series["y"][index], unit)
    interval = ends(series, index) if chart["kind"] == "forest" else None
    return f"{text} ({between(interval, unit)})" if interval else text
