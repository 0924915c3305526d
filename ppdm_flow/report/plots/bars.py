"""Bar charts: vertical for histograms, horizontal where the labels are words."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ppdm_flow.report.amounts import amount
from ppdm_flow.report.plots.drawing import CHARACTER, Drawing, Label, Line, Rect, shortened
from ppdm_flow.report.plots.fields import ChartDocument, SeriesDocument
from ppdm_flow.report.plots.frame import WIDTH, Frame, colours, draw_frame, ends, is_limit, lanes, points, tip
from ppdm_flow.report.plots.scale import Scale, extent, tick_text, ticks, unit_of

_WIDEST = 40.0
_ROW = 11.0


def vertical_bars(chart: ChartDocument) -> Drawing:
    """Draw a bar chart whose values run upwards."""
    frame = draw_frame(chart, zero=True)
    slot = (frame.right - frame.left) / max(1, len(chart["x"]))
    lane, count = lanes(chart)
    thickness = min(_WIDEST, slot * 0.8 / count)
    margin = (slot - thickness * count) / 2
    styles = colours(chart)
    for number, series in enumerate(chart["series"]):
        left = frame.left + margin + lane[number] * thickness
        for i in points(chart, series):
            _vertical_mark(chart, series, i, frame, round(left + i * slot, 1), thickness, styles[number])
    _labels(chart, frame, slot)
    return frame.drawing


def _vertical_mark(
    chart: ChartDocument, series: SeriesDocument, index: int, frame: Frame, x: float, thickness: float, style: str
) -> None:
    """Place one bar with its whisker, or one limit."""
    value = series["y"][index]
    zero, y = frame.values(0.0), frame.values(value)
    if is_limit(series):
        frame.drawing.lines.append(Line(x, y, round(x + thickness, 1), y, style))
        return
    width = round(thickness - (1.0 if thickness > 4 else 0.0), 1)
    height = max(abs(y - zero), 0.8 if value else 0.0)
    what = tip(chart, series, index, frame.unit)
    frame.drawing.rects.append(Rect(x, min(y, zero), width, round(height, 1), style, what))
    interval = ends(series, index)
    if interval:
        middle = round(x + width / 2, 1)
        frame.drawing.lines.append(
            Line(middle, frame.values(interval[0]), middle, frame.values(interval[1]), "whisker")
        )


def _labels(chart: ChartDocument, frame: Frame, slot: float) -> None:
    """Place as many labels as there is room for, evenly spaced; in two rows where that is enough for all."""
    texts = [shortened(label, _LABEL_CHARACTERS) for label in chart["x"]]
    widest = max((len(text) for text in texts), default=0) * CHARACTER + 6
    every = max(1, -(-int(widest) // max(1, int(slot))))
    rows = 2 if every == 2 else 1
    for i in range(0, len(texts), every // rows):
        x = round(frame.left + (i + 0.5) * slot, 1)
        frame.drawing.labels.append(Label(x, frame.bottom + 13 + _ROW * (i % rows), texts[i], "middle"))


_LABEL_CHARACTERS = 22
_MOST_VALUES = 26  # bars that carry their value as text; more of them get an axis instead
_TOP = 4.0
_GAP = 8.0
_AXIS = 18.0


@dataclass(frozen=True, slots=True)
class _Layout:
    drawing: Drawing
    scale: Scale
    unit: str
    valued: bool
    thickness: float
    pitch: float


def horizontal_bars(chart: ChartDocument) -> Drawing:
    """Draw a bar chart whose values run to the right."""
    lane, count = lanes(chart)
    layout = _layout(chart, count)
    styles = colours(chart)
    for number, series in enumerate(chart["series"]):
        for i in points(chart, series):
            y = round(_TOP + layout.pitch * i + lane[number] * layout.thickness, 1)
            _mark(chart, series, i, layout, y, styles[number])
    return layout.drawing


def _layout(chart: ChartDocument, count: int) -> _Layout:
    """Choose thickness and scale; place the labels and, where bars carry no values, an axis."""
    valued = len(chart["x"]) * count <= _MOST_VALUES
    thickness = 14.0 if count == 1 else 12.0 if valued else 8.0
    pitch = thickness * count + _GAP
    texts = [shortened(label, _LABEL_CHARACTERS) for label in chart["x"]]
    left = round(max(map(len, texts), default=0) * CHARACTER + 12, 1)
    marks = ticks(*extent(chart["series"], zero=True))
    scale = Scale(marks[0], marks[-1], left, WIDTH - (62.0 if valued else 22.0))
    end = _TOP + pitch * len(texts)
    layout = _Layout(
        Drawing(WIDTH, round(end + (0 if valued else _AXIS), 1)), scale, unit_of(chart), valued, thickness, pitch
    )
    if valued:
        layout.drawing.back.append(Line(scale(0.0), 0, scale(0.0), round(end, 1), "axis"))
    else:
        _axis(layout, marks, round(end - _GAP / 2, 1))
    for i, text in enumerate(texts):
        middle = _TOP + pitch * i + (pitch - _GAP) / 2
        layout.drawing.labels.append(Label(left - 8, round(middle + 3.5, 1), text, "end"))
    return layout


def _axis(layout: _Layout, marks: tuple[float, ...], end: float) -> None:
    for mark in marks:
        x = layout.scale(mark)
        layout.drawing.back.append(Line(x, 0, x, end, "axis" if mark == 0 else "grid"))
        text = tick_text(mark, layout.unit, marks[1] - marks[0])
        layout.drawing.labels.append(Label(x, end + 13, text, "middle"))


def _mark(chart: ChartDocument, series: SeriesDocument, index: int, layout: _Layout, y: float, style: str) -> None:
    """Place one bar with its whisker and value, or one limit."""
    value = series["y"][index]
    zero, end = layout.scale(0.0), layout.scale(value)
    if is_limit(series):
        layout.drawing.lines.append(Line(end, y - 1, end, y + layout.thickness, style))
        return
    width = round(max(abs(end - zero), 0.8 if value else 0.0), 1)
    height = layout.thickness - 1
    what = tip(chart, series, index, layout.unit)
    layout.drawing.rects.append(Rect(min(zero, end), y, width, height, style, what))
    middle = round(y + height / 2, 1)
    interval = ends(series, index)
    if interval:
        low, high = layout.scale(interval[0]), layout.scale(interval[1])
        layout.drawing.lines.append(Line(low, middle, high, middle, "whisker"))
        end = max(end, high)
    if layout.valued and value:
        text = amount(value, layout.unit)
        layout.drawing.labels.append(Label(round(max(zero, end) + 5, 1), middle + 3, text, "start", "value"))


_MAX_HORIZONTAL = 44
_MARGINS = 60.0
_SPACE = 4.0
_ORDERED = re.compile(r"^[\[(<>≤≥]?\s*-?\d")
"""A number or an interval: of such labels some may be left out."""


def bars(chart: ChartDocument) -> Drawing:
    """Return the drawing of a bar chart: groups of bars along ``x``, one bar a series, whiskers for intervals.

    A series with ``limit`` in its name is drawn as ticks across the bars of the series after it.
    """
    labels = chart["x"]
    widest = max((len(label) for label in labels), default=0)
    slot = (WIDTH - _MARGINS) / max(1, len(labels))
    fits = widest * CHARACTER + _SPACE <= slot or all(_ORDERED.match(label) for label in labels)
    return vertical_bars(chart) if fits or len(labels) > _MAX_HORIZONTAL else horizontal_bars(chart)
