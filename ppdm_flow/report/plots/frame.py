"""What drawings with a vertical axis of values share: ticks, grid lines, axis titles."""

from __future__ import annotations

from dataclasses import dataclass

from ppdm_flow.report.plots.drawing import CHARACTER, Drawing, Label, Line
from ppdm_flow.report.plots.fields import ChartDocument
from ppdm_flow.report.plots.scale import Scale, counts, extent, tick_text, ticks, unit_of

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
    marks = ticks(*extent(chart["series"], zero=zero), whole=not unit and counts(chart))
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
