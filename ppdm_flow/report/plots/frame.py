"""What kinds of charts share: the vertical axis of values, and what is said of a mark."""

from __future__ import annotations

from dataclasses import dataclass

from ppdm_flow.report.amounts import amount, between
from ppdm_flow.report.plots.drawing import CHARACTER, Drawing, Label, Line, styles
from ppdm_flow.report.plots.fields import ChartDocument, SeriesDocument
from ppdm_flow.report.plots.scale import Scale, counts, extent, tick_text, ticks, unit_of


def tip(chart: ChartDocument, series: SeriesDocument, index: int, unit: str) -> str:
    """Say in words what one mark shows."""
    name = f"{series['name']}: " if series.get("name") and len(chart["series"]) > 1 else ""
    text = f"{chart['x'][index]} \N{MIDDLE DOT} {name}{amount(series['y'][index], unit)}"
    interval = ends(series, index)
    return f"{text} ({between(interval, unit)})" if interval else text


def ends(series: SeriesDocument, index: int) -> tuple[float, float] | None:
    """Return the interval of one mark, if it has one."""
    low, high = series.get("low", ()), series.get("high", ())
    return (low[index], high[index]) if index < min(len(low), len(high)) else None


def points(chart: ChartDocument, series: SeriesDocument) -> range:
    """Return the positions that have both a label and a value."""
    return range(min(len(chart["x"]), len(series["y"])))


def is_limit(series: SeriesDocument) -> bool:
    """Whether a series is a limit, which is drawn as a tick across the bars of the series after it."""
    return "limit" in series["name"].lower()


def colours(chart: ChartDocument) -> list[str]:
    """Return the style of each series of a bar chart."""
    names = iter(styles([series["name"] for series in chart["series"] if not is_limit(series)]))
    return ["limit" if is_limit(series) else next(names) for series in chart["series"]]


def lanes(chart: ChartDocument) -> tuple[list[int], int]:
    """Return the lane of each series within a group of bars, and how many lanes there are."""
    lane_of, lane = [], 0
    for series in chart["series"]:
        lane_of.append(lane)
        lane += not is_limit(series)
    count = max(1, lane)
    return [min(one, count - 1) for one in lane_of], count


WIDTH = 460.0
HEIGHT = 236.0
_TOP = 20.0
_BOTTOM = 40.0
_RIGHT = 10.0


@dataclass(frozen=True, slots=True)
class Frame:
    """The plot area of a drawing, and the scale of its values."""

    drawing: Drawing
    values: Scale
    unit: str
    left: float
    right: float
    bottom: float


def draw_frame(chart: ChartDocument, *, zero: bool) -> Frame:
    """Begin a drawing: choose ticks, draw the grid, name the axes."""
    unit = unit_of(chart)
    marks = ticks(*extent(chart["series"], zero=zero), integers=not unit and counts(chart))
    texts = [tick_text(mark, unit, marks[1] - marks[0]) for mark in marks]
    left = max(34.0, max(map(len, texts)) * CHARACTER + 10)
    drawing = Drawing(WIDTH, HEIGHT)
    bottom = HEIGHT - _BOTTOM
    scale = Scale(marks[0], marks[-1], bottom, _TOP)
    for mark, text in zip(marks, texts, strict=True):
        y = scale(mark)
        drawing.back.append(Line(left, y, WIDTH - _RIGHT, y, "axis" if mark == 0 else "grid"))
        drawing.labels.append(Label(left - 6, y + 3.5, text, "end"))
    _titles(chart, drawing, left)
    return Frame(drawing, scale, unit, left, WIDTH - _RIGHT, bottom)


def _titles(chart: ChartDocument, drawing: Drawing, left: float) -> None:
    if chart.get("y_label"):
        drawing.labels.append(Label(2, 9, chart["y_label"], "start", "axis-title"))
    if chart.get("x_label"):
        middle = round((left + WIDTH - _RIGHT) / 2, 1)
        drawing.labels.append(Label(middle, HEIGHT - 4, chart["x_label"], "middle", "axis-title"))
