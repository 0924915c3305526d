"""Charts as SVG: points joined by lines, as of a sweep, and histograms; each mark may be a link."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from ppdm_flow.core.graph_drawing import number
from ppdm_flow.core.texts.widths import width as text_width
from ppdm_flow.page.looks.svg import element, linked, picture
from ppdm_flow.report.plots.drawing import shortened
from ppdm_flow.report.plots.scale import Scale, tick_text, ticks

WIDTH, HEIGHT = 640.0, 300.0
_TOP, _RIGHT, _BOTTOM = 28.0, 16.0, 48.0
_TYPE = 12.0
_RADIUS = 6.0
_LONGEST = 16


@dataclass(frozen=True, slots=True)
class Point:
    """A value at a place: ``x`` is a number, or a word that has a place of its own.

    ``tip`` says what the point is; ``kind`` is its class, as ``released`` or ``withheld``; ``low`` and ``high`` are the
    ends of its interval. ``address``: the point is a link.
    """

    x: float | str
    y: float
    tip: str = ""
    kind: str = ""
    address: str = ""
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Series:
    """Points that a line joins, in this order."""

    name: str
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Axes:
    """What stands beside the axes, and in which unit the values are (``share`` is written as percent).

    ``bound`` is drawn across the chart, named ``bound_text``.
    """

    x: str
    y: str
    unit: str = ""
    bound: float | None = None
    bound_text: str = ""


@dataclass(frozen=True, slots=True)
class Bin:
    """A bar of a histogram: from ``low`` to ``high`` across, ``rows`` high."""

    low: float
    high: float
    rows: int
    tip: str = ""


@dataclass(frozen=True, slots=True)
class Frame:
    """The scales of a chart: from values to pixels."""

    x: Scale
    y: Scale

    @property
    def bottom(self) -> float:
        """Where the lower end of the values is."""
        return HEIGHT - _BOTTOM


def line_chart(series: Sequence[Series], axes: Axes, *, name: str, title: str, description: str) -> Markup:
    """Return the chart of some series; ``name`` is its id on the page, ``description`` what it shows in words."""
    points = [point for each in series for point in each.points]
    words = list(dict.fromkeys(str(point.x) for point in points)) if any(isinstance(p.x, str) for p in points) else []
    places = {word: float(place) for place, word in enumerate(words)}
    across = [_across(point, places) for point in points]
    ends = [end for p in points for end in (p.y, p.low, p.high) if end is not None]
    ends += [axes.bound] if axes.bound is not None else []
    ys = ticks(min(ends, default=0.0), max(ends, default=1.0))
    frame, grid = _frame(axes, ys, (min(across, default=0.0), max(across, default=1.0)), words)
    marks = [mark for place, each in enumerate(series) for mark in _series(place, each, frame, places)]
    linking = any(point.address for point in points)
    return picture(
        name, WIDTH, HEIGHT, title, description, *grid, *_bound(axes, frame), *marks, kind="chart", links=linking
    )


def histogram(
    bins: Sequence[Bin],
    axes: Axes,
    *,
    name: str,
    title: str,
    description: str,
    reach: tuple[float, float] | None = None,
) -> Markup:
    """Return the chart of how many rows have values between some edges; ``reach`` are values that it shows at least.

    A rectangle of class ``plot`` covers the place of the bars and says from which number to which it goes.
    """
    ys = ticks(0.0, max((each.rows for each in bins), default=1), integers=True)
    ends = [*(reach or ()), *(b.low for b in bins), *(b.high for b in bins)] or [0.0, 1.0]
    frame, grid = _frame(axes, ys, (min(ends), max(ends)), ())
    bars = (_bar(each, frame) for each in bins)
    return picture(
        name, WIDTH, HEIGHT, title, description, *grid, _plot(frame), *bars, kind="chart histogram", links=False
    )


def _plot(frame: Frame) -> Markup:
    x, width = frame.x.start, frame.x.end - frame.x.start
    ends = {"data_low": repr(frame.x.low), "data_high": repr(frame.x.high)}
    return element("rect", class_="plot", x=x, y=_TOP, width=width, height=frame.bottom - _TOP, fill="none", **ends)


def _across(point: Point, places: dict[str, float]) -> float:
    return places[str(point.x)] if places else float(point.x)


def _frame(
    axes: Axes, ys: Sequence[float], across: tuple[float, float], words: Sequence[str]
) -> tuple[Frame, list[Markup]]:
    """Choose both scales, and draw the grid, the ticks and the names of the axes."""
    texts = [tick_text(y, axes.unit, ys[1] - ys[0]) for y in ys]
    left = max(40.0, max(text_width(text, _TYPE) for text in texts) + 14)
    low, high = across if across[0] < across[1] else (across[0] - 0.5, across[1] + 0.5)
    inset = 8.0 + max((text_width(shortened(word, _LONGEST), _TYPE) for word in words), default=0.0) / 2
    frame = Frame(Scale(low, high, left + inset, WIDTH - _RIGHT - inset), Scale(ys[0], ys[-1], HEIGHT - _BOTTOM, _TOP))
    grid: list[Markup] = []
    for y, text in zip(ys, texts, strict=True):
        grid.append(element("path", class_="grid", d=f"M{number(left)} {number(frame.y(y))}H{number(WIDTH - _RIGHT)}"))
        grid.append(_text(left - 8, frame.y(y) + 4, text, "end"))
    grid += _ticks(frame, words)
    grid.append(_text(4, 14, axes.y, "start", "axis"))
    grid.append(_text((left + WIDTH - _RIGHT) / 2, HEIGHT - 8, axes.x, "middle", "axis"))
    return frame, grid


def _ticks(frame: Frame, words: Sequence[str]) -> Iterator[Markup]:
    """Yield what stands below the horizontal axis: round numbers, or as many words as there is room for."""
    y = frame.bottom + 18
    if not words:
        marks = ticks(frame.x.low, frame.x.high)
        inside = (mark for mark in marks if frame.x.low <= mark <= frame.x.high)
        yield from (_text(frame.x(mark), y, f"{mark:.10g}", "middle") for mark in inside)
        return
    texts = [shortened(word, _LONGEST) for word in words]
    room = (frame.x.end - frame.x.start) / max(1, len(words) - 1)
    every = 1 + int(max(text_width(text, _TYPE) for text in texts) / room)
    yield from (_text(frame.x(place), y, text, "middle") for place, text in enumerate(texts) if place % every == 0)


def _bound(axes: Axes, frame: Frame) -> Iterator[Markup]:
    if axes.bound is not None:
        y = frame.y(axes.bound)
        yield element("path", class_="bound", d=f"M{number(frame.x.start - 8)} {number(y)}H{number(WIDTH - _RIGHT)}")
        yield _text(WIDTH - _RIGHT, y - 6, axes.bound_text, "end", "bound-text")


def _series(place: int, series: Series, frame: Frame, places: dict[str, float]) -> Iterator[Markup]:
    spots = [(frame.x(_across(point, places)), frame.y(point.y)) for point in series.points]
    kind = f"series-{place % 6}"
    if len(spots) > 1:
        data = "M" + "L".join(f"{number(x)} {number(y)}" for x, y in spots)
        yield element("path", class_=f"line {kind}", d=data)
    for point, (x, y) in zip(series.points, spots, strict=True):
        if point.low is not None and point.high is not None:
            whisker = f"M{number(x)} {number(frame.y(point.low))}V{number(frame.y(point.high))}"
            yield element("path", class_=f"whisker {kind}", d=whisker)
        tip = (element("title", point.tip),) if point.tip else ()
        dot = element("circle", *tip, class_=f"point {kind} {point.kind}".rstrip(), cx=x, cy=y, r=_RADIUS)
        yield linked(dot, point.address, point.tip)


def _bar(each: Bin, frame: Frame) -> Markup:
    left, right, top = frame.x(each.low), frame.x(each.high), frame.y(float(each.rows))
    tip = (element("title", each.tip),) if each.tip else ()
    width, height = max(right - left - 1, 1.0), frame.bottom - top
    return element("rect", *tip, class_="bar", x=left, y=top, width=width, height=height)


def _text(x: float, y: float, text: str, anchor: str, kind: str = "tick") -> Markup:
    return element("text", text, class_=kind, x=x, y=y, text_anchor=anchor)
