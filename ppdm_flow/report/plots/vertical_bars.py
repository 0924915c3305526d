"""Upright bars, for histograms and short labels."""

from __future__ import annotations

from ppdm_flow.report.plots.drawing import CHARACTER, Drawing, Label, Line, Rect, shortened
from ppdm_flow.report.plots.fields import ChartDocument, SeriesDocument
from ppdm_flow.report.plots.frame import Frame, draw_frame
from ppdm_flow.report.plots.marks import colours, ends, is_limit, lanes, points, tip

_LABEL_CHARACTERS = 22
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
            _mark(chart, series, i, frame, round(left + i * slot, 1), thickness, styles[number])
    _labels(chart, frame, slot)
    return frame.drawing


def _mark(
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
