"""Bars: upright for histograms, lying where the labels are words."""

from __future__ import annotations

import re
from typing import Any

from ppdm_flow.report.amounts import amount, between
from ppdm_flow.report.plots.drawing import CHARACTER, Drawing, Label, Line, Rect, shortened, styles
from ppdm_flow.report.plots.frame import WIDTH, framed
from ppdm_flow.report.plots.scale import Scale, extent, ticks, unit_of

_MOST_LYING = 44
_ORDERED = re.compile(r"^[\[(<>\u2264\u2265]?\s*-?\d")  # a number or an interval: labels may be left out
_LABEL_CHARACTERS = 22
_MOST_VALUES = 26  # bars of a lying chart that carry their value as text
_LYING_TOP = 4.0


def bars(chart: dict[str, Any]) -> Drawing:
    """Return the drawing of a bar chart: groups of bars along ``x``, one bar a series, whiskers for intervals."""
    labels = chart["x"]
    widest = max((len(label) for label in labels), default=0)
    slot = WIDTH / max(1, len(labels))
    fits = widest * CHARACTER <= slot or all(_ORDERED.match(label) for label in labels)
    return _upright(chart) if fits or len(labels) > _MOST_LYING else _lying(chart)


def tip(chart: dict[str, Any], series: dict[str, Any], index: int, unit: str) -> str:
    """Say in words what one mark shows."""
    name = f"{series['name']}: " if series.get("name") and len(chart["series"]) > 1 else ""
    text = f"{chart['x'][index]} \N{MIDDLE DOT} {name}{amount(series['y'][index], unit)}"
    ends = _ends(series, index)
    return f"{text} ({between(ends, unit)})" if ends else text


def _ends(series: dict[str, Any], index: int) -> tuple[float, float] | None:
    low, high = series.get("low", ()), series.get("high", ())
    return (low[index], high[index]) if index < min(len(low), len(high)) else None


def _points(chart: dict[str, Any], series: dict[str, Any]) -> range:
    return range(min(len(chart["x"]), len(series["y"])))


def _upright(chart: dict[str, Any]) -> Drawing:
    frame = framed(chart, zero=True)
    slot = (frame.right - frame.left) / max(1, len(chart["x"]))
    thickness = min(40.0, slot * 0.8 / max(1, len(chart["series"])))
    zero = frame.values(0.0)
    colours = styles([series["name"] for series in chart["series"]])
    for number, series in enumerate(chart["series"]):
        shift = (slot - thickness * len(chart["series"])) / 2 + number * thickness
        for i in _points(chart, series):
            x, y = round(frame.left + i * slot + shift, 1), frame.values(series["y"][i])
            top, height = min(y, zero), max(abs(y - zero), 0.8 if series["y"][i] else 0.0)
            what = tip(chart, series, i, frame.unit)
            gap = 1.0 if thickness > 4 else 0.0
            frame.drawing.rects.append(Rect(x, top, round(thickness - gap, 1), round(height, 1), colours[number], what))
            _whisker_upright(frame.drawing, frame.values, series, i, round(x + (thickness - gap) / 2, 1))
    _labels_below(chart, frame.drawing, frame.left, slot, frame.bottom)
    return frame.drawing


def _whisker_upright(drawing: Drawing, scale: Scale, series: dict[str, Any], index: int, x: float) -> None:
    ends = _ends(series, index)
    if ends:
        drawing.lines.append(Line(x, scale(ends[0]), x, scale(ends[1]), "whisker"))


def _labels_below(chart: dict[str, Any], drawing: Drawing, left: float, slot: float, bottom: float) -> None:
    texts = [shortened(label, _LABEL_CHARACTERS) for label in chart["x"]]
    widest = max((len(text) for text in texts), default=0) * CHARACTER + 6
    every = max(1, -(-int(widest) // max(1, int(slot))))
    for i in range(0, len(texts), every):
        drawing.labels.append(Label(round(left + (i + 0.5) * slot, 1), bottom + 14, texts[i], "middle"))


def _lying(chart: dict[str, Any]) -> Drawing:
    many = len(chart["series"])
    valued = len(chart["x"]) * many <= _MOST_VALUES
    thickness = 14.0 if many == 1 else 11.0 if valued else 8.0
    pitch = thickness * many + 8.0
    drawing = Drawing(WIDTH, round(_LYING_TOP + pitch * len(chart["x"]) + 4, 1))
    unit = unit_of(chart)
    texts = [shortened(label, _LABEL_CHARACTERS) for label in chart["x"]]
    left = round(max(map(len, texts), default=0) * CHARACTER + 12, 1)
    marks = ticks(*extent(chart["series"], zero=True))
    scale = Scale(marks[0], marks[-1], left, WIDTH - (62.0 if valued else 10.0))
    drawing.back.append(Line(scale(0.0), 0, scale(0.0), drawing.height, "axis"))
    colours = styles([series["name"] for series in chart["series"]])
    for i, text in enumerate(texts):
        middle = _LYING_TOP + pitch * i + (pitch - 8.0) / 2
        drawing.labels.append(Label(left - 8, round(middle + 3.5, 1), text, "end"))
    for number, series in enumerate(chart["series"]):
        for i in _points(chart, series):
            y = round(_LYING_TOP + pitch * i + number * thickness, 1)
            _lying_bar(chart, series, i, drawing, scale, Rect(0, y, 0, thickness - 1, colours[number]), unit, valued)
    return drawing


def _lying_bar(
    chart: dict[str, Any],
    series: dict[str, Any],
    index: int,
    drawing: Drawing,
    scale: Scale,
    rect: Rect,
    unit: str,
    valued: bool,
) -> None:
    """Place one bar, its whisker and its value."""
    value = series["y"][index]
    zero, end = scale(0.0), scale(value)
    rect.x, rect.width = min(zero, end), round(max(abs(end - zero), 0.8 if value else 0.0), 1)
    rect.tip = tip(chart, series, index, unit)
    drawing.rects.append(rect)
    middle = round(rect.y + rect.height / 2, 1)
    ends = _ends(series, index)
    if ends:
        drawing.lines.append(Line(scale(ends[0]), middle, scale(ends[1]), middle, "whisker"))
        end = max(end, scale(ends[1]))
    if valued:
        drawing.labels.append(Label(round(max(zero, end) + 5, 1), middle + 3, amount(value, unit), "start", "value"))
