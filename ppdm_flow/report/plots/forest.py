"""Forest plots: estimates with their intervals, one row a label, the series of a row beneath each other."""

from __future__ import annotations

from ppdm_flow.report.plots.drawing import CHARACTER, Dot, Drawing, Label, Line, shortened, styles
from ppdm_flow.report.plots.fields import ChartDocument, SeriesDocument
from ppdm_flow.report.plots.frame import WIDTH, ends, points, tip
from ppdm_flow.report.plots.scale import Scale, extent, tick_text, ticks, unit_of

_TOP = 6.0
_LANE = 11.0
_GAP = 9.0
_AXIS = 34.0
_RIGHT = 14.0
_DOT = 3.6
_CAP = 3.0
_LABEL_CHARACTERS = 26


def forest(chart: ChartDocument) -> Drawing:
    """Return the drawing: a dot for each estimate, a line for its interval, a line at zero, values to the right."""
    count = max(1, len(chart["series"]))
    pitch = _LANE * count + _GAP
    texts = [shortened(label, _LABEL_CHARACTERS) for label in chart["x"]]
    left = round(max(map(len, texts), default=0) * CHARACTER + 14, 1)
    marks = ticks(*extent(chart["series"], zero=True))
    scale = Scale(marks[0], marks[-1], left, WIDTH - _RIGHT)
    end = round(_TOP + pitch * len(texts), 1)
    drawing = Drawing(WIDTH, end + _AXIS)
    _axis(chart, drawing, scale, marks, end)
    for i, text in enumerate(texts):
        middle = _TOP + pitch * i + (pitch - _GAP) / 2
        drawing.labels.append(Label(left - 8, round(middle + 3.5, 1), text, "end"))
    names = styles([series["name"] for series in chart["series"]])
    for lane, (series, style) in enumerate(zip(chart["series"], names, strict=True)):
        for i in points(chart, series):
            y = round(_TOP + pitch * i + _LANE * (lane + 0.5), 1)
            _mark(chart, series, i, drawing, scale, y, style)
    return drawing


def _axis(chart: ChartDocument, drawing: Drawing, scale: Scale, marks: tuple[float, ...], end: float) -> None:
    """Place the grid, with a stronger line at zero, the ticks and the title of the values."""
    unit = unit_of(chart)
    for mark in marks:
        x = scale(mark)
        drawing.back.append(Line(x, 0, x, end, "axis zero" if mark == 0 else "grid"))
        drawing.labels.append(Label(x, end + 13, tick_text(mark, unit, marks[1] - marks[0]), "middle"))
    if chart.get("y_label"):
        drawing.labels.append(Label(WIDTH - _RIGHT, end + 29, chart["y_label"], "end", "axis-title"))


def _mark(
    chart: ChartDocument, series: SeriesDocument, index: int, drawing: Drawing, scale: Scale, y: float, style: str
) -> None:
    """Place one estimate with its interval, whose ends have caps."""
    interval = ends(series, index)
    if interval:
        low, high = scale(interval[0]), scale(interval[1])
        drawing.lines.append(Line(low, y, high, y, f"spread {style}"))
        drawing.lines += [Line(x, y - _CAP, x, y + _CAP, f"spread {style}") for x in (low, high)]
    what = tip(chart, series, index, unit_of(chart))
    drawing.dots.append(Dot(scale(series["y"][index]), y, _DOT, style, what))
