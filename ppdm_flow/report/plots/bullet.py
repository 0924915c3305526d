"""How far a measured figure lies from its bound: allowed side, forbidden side, a mark."""

from __future__ import annotations

from collections.abc import Sequence

from ppdm_flow.report.plots.drawing import Dot, Drawing, Line, Path, Rect
from ppdm_flow.report.plots.scale import Scale

WIDTH = 260.0
HEIGHT = 26.0
_EDGE = 8.0
_FAR = 4.0  # a figure beyond this many bounds is drawn at the end, with an arrow
_BROAD = 0.4  # probabilities with a bound from here on are shown on the whole of [0, 1]


def bullet(
    measured: float | None,
    bound: float,
    *,
    at_most: bool,
    holds: bool,
    share: bool,
    interval: Sequence[float] | None,
    before: float | None = None,
    waived: bool = False,
) -> Drawing:
    """Return the drawing; ``share`` says that the figure cannot leave [0, 1] where it is positive.

    ``before`` is the same figure of the original data: a hollow mark. ``waived``: it does not hold, and need not.
    """
    low, high = _range(measured, bound, share, before)
    scale = Scale(low, high, _EDGE, WIDTH - _EDGE)
    middle = HEIGHT / 2
    limit = scale(bound)
    drawing = Drawing(WIDTH, HEIGHT)
    drawing.rects += [
        Rect(0, middle - 5, limit, 10, "allowed" if at_most else "forbidden"),
        Rect(limit, middle - 5, round(WIDTH - limit, 1), 10, "forbidden" if at_most else "allowed"),
    ]
    drawing.lines.append(Line(limit, 2, limit, HEIGHT - 2, "bound"))
    if measured is None:
        return drawing
    style = "good" if holds else "waived" if waived else "bad"
    if interval:
        drawing.lines.append(Line(scale(interval[0]), middle, scale(interval[1]), middle, f"interval {style}"))
    if before is not None:
        drawing.lines.append(Line(scale(before), middle, scale(measured), middle, "moved"))
        drawing.dots.append(Dot(scale(before), middle, 4.5, "before"))
    drawing.dots.append(Dot(scale(measured), middle, 6, style))
    _arrow(drawing, measured, low, high, middle)
    return drawing


def _range(measured: float | None, bound: float, share: bool, before: float | None) -> tuple[float, float]:
    """Return the ends of the scale: 0 where that makes sense, the bound well inside, both figures visible."""
    value = bound if measured is None else measured
    if bound <= 0 or value < 0:
        reach = 1.35 * max(abs(value - bound), abs(bound), 0.05 if share else 1e-9)
        return bound - reach, bound + reach
    high = min(max(2 * bound, 1.15 * value, 1.05 * (before or 0.0)), _FAR * bound)
    if share and bound >= _BROAD:
        high = 1.0
    return 0.0, max(high, bound * 1.05)


def _arrow(drawing: Drawing, measured: float, low: float, high: float, middle: float) -> None:
    """Draw an arrow head where the figure lies beyond the end of the scale."""
    if measured > high:
        drawing.paths.append(Path(f"M{WIDTH - 6:g} {middle - 7:g}l6 7l-6 7", "beyond"))
    elif measured < low:
        drawing.paths.append(Path(f"M6 {middle - 7:g}l-6 7l6 7", "beyond"))
