"""Matrices: a cell's depth of colour is its size, its hue its sign."""

from __future__ import annotations

from ppdm_flow.report.amounts import amount
from ppdm_flow.report.plots.drawing import CHARACTER, Drawing, Label, Rect, shortened
from ppdm_flow.report.plots.fields import ChartDocument
from ppdm_flow.report.plots.frame import WIDTH, tip
from ppdm_flow.report.plots.scale import unit_of

_ROW_CHARACTERS = 20
_COLUMN_CHARACTERS = 16
_TALLEST = 34.0
_ROOM_FOR_TEXT = 34.0
_NOISE = 1e-12  # smaller ones, relative to the largest, are rounding errors
_DARK = 0.75  # from this depth on, the text in a cell is light


def matrix(chart: ChartDocument) -> Drawing:
    """Return the drawing of a matrix: one row a series, one column a label."""
    rows, columns = chart["series"], chart["x"]
    left = round(max((len(shortened(r["name"], _ROW_CHARACTERS)) for r in rows), default=0) * CHARACTER + 10, 1)
    texts = [shortened(label, _COLUMN_CHARACTERS) for label in columns]
    longest = max(map(len, texts), default=0) * CHARACTER
    turned = longest > (WIDTH - left) / max(1, len(columns)) - 4
    right = 0.6 * longest if turned else 6.0
    wide = round((WIDTH - left - right) / max(1, len(columns)), 2)
    tall = min(_TALLEST, max(14.0, wide * 0.8))
    top = round(longest * 0.75 + 14, 1) if turned else 20.0
    drawing = Drawing(WIDTH, round(top + tall * len(rows) + 4, 1))
    for i, text in enumerate(texts):
        x = round(left + (i + 0.5) * wide, 1)
        anchor = "start" if turned else "middle"
        drawing.labels.append(Label(x, top - 6, text, anchor, turn=-45 if turned else 0))
    _cells(chart, drawing, left, top, wide, tall)
    return drawing


def _cells(chart: ChartDocument, drawing: Drawing, left: float, top: float, wide: float, tall: float) -> None:
    largest = max((abs(y) for row in chart["series"] for y in row["y"]), default=0.0) or 1.0
    unit = unit_of(chart)
    noise = largest * _NOISE
    for j, row in enumerate(chart["series"]):
        y = round(top + j * tall, 1)
        name = shortened(row["name"], _ROW_CHARACTERS)
        drawing.labels.append(Label(left - 6, round(y + tall / 2 + 3.5, 1), name, "end"))
        for i, value in enumerate(row["y"][: len(chart["x"])]):
            x = round(left + i * wide, 1)
            value = 0.0 if abs(value) < noise else value
            depth = round(0.06 + 0.94 * abs(value) / largest, 3)
            style = "cell" if value >= 0 else "cell minus"
            box = Rect(x, y, round(wide - 1.5, 1), tall - 1.5, style, tip(chart, row, i, unit), depth)
            drawing.rects.append(box)
            if wide >= _ROOM_FOR_TEXT:
                place = round(x + wide / 2, 1), round(y + tall / 2 + 3.5, 1)
                shade = "on-dark" if depth > _DARK else "on-light"
                drawing.labels.append(Label(*place, amount(value, unit, 2), "middle", shade))
