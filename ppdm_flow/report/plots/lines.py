"""Lines with interval bands, over numbers or categories."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ppdm_flow.report.plots.drawing import CHARACTER, Dot, Drawing, Label, Path, shortened, styles
from ppdm_flow.report.plots.fields import ChartDocument, SeriesDocument
from ppdm_flow.report.plots.frame import Frame, draw_frame, tip
from ppdm_flow.report.plots.scale import Scale, ticks

_MOST_DOTS = 40
_LABEL_CHARACTERS = 14


def lines(chart: ChartDocument) -> Drawing:
    """Return the drawing of a line chart; labels that are all numbers are placed to scale."""
    frame = draw_frame(chart, zero=False)
    numbers = _numbers(chart["x"])
    places = _to_scale(numbers, frame) if numbers else _in_slots(chart["x"], frame)
    colours = styles([series["name"] for series in chart["series"]])
    for series, style in zip(chart["series"], colours, strict=True):
        _band(series, places, frame, style)
        _line(series, places, frame, style)
        _dots(chart, series, places, frame, style)
    return frame.drawing


def _numbers(labels: Sequence[str]) -> list[float] | None:
    try:
        numbers = [float(label) for label in labels]
    except ValueError:
        return None
    finite = all(math.isfinite(value) for value in numbers)
    return numbers if finite and len(set(numbers)) > 1 and numbers == sorted(numbers) else None


def _to_scale(numbers: list[float], frame: Frame) -> list[float]:
    scale = Scale(numbers[0], numbers[-1], frame.left + 4, frame.right - 8)
    for mark in ticks(numbers[0], numbers[-1]):
        if numbers[0] <= mark <= numbers[-1]:
            frame.drawing.labels.append(Label(scale(mark), frame.bottom + 14, f"{mark:g}", "middle"))
    return [scale(value) for value in numbers]


def _in_slots(labels: Sequence[str], frame: Frame) -> list[float]:
    slot = (frame.right - frame.left) / max(1, len(labels))
    texts = [shortened(label, _LABEL_CHARACTERS) for label in labels]
    widest = max((len(text) for text in texts), default=0) * CHARACTER + 6
    every = max(1, math.ceil(widest / slot))
    places = [round(frame.left + (i + 0.5) * slot, 1) for i in range(len(labels))]
    for i in range(0, len(texts), every):
        frame.drawing.labels.append(Label(places[i], frame.bottom + 14, texts[i], "middle"))
    return places


def _line(series: SeriesDocument, places: list[float], frame: Frame, style: str) -> None:
    points = [f"{x:g} {frame.values(y):g}" for x, y in zip(places, series["y"], strict=False)]
    if len(points) > 1:
        frame.drawing.paths.append(Path("M" + "L".join(points), f"line {style}"))


def _band(series: SeriesDocument, places: list[float], frame: Frame, style: str) -> None:
    above = [f"{x:g} {frame.values(y):g}" for x, y in zip(places, series.get("high", ()), strict=False)]
    below = [f"{x:g} {frame.values(y):g}" for x, y in zip(places, series.get("low", ()), strict=False)]
    if len(above) > 1 and len(above) == len(below):
        frame.drawing.paths.append(Path("M" + "L".join([*above, *reversed(below)]) + "Z", f"band {style}"))


def _dots(chart: ChartDocument, series: SeriesDocument, places: list[float], frame: Frame, style: str) -> None:
    count = min(len(places), len(series["y"]))
    if count > _MOST_DOTS:
        return
    for i in range(count):
        what = tip(chart, series, i, frame.unit)
        frame.drawing.dots.append(Dot(places[i], frame.values(series["y"][i]), 3.2, style, what))
