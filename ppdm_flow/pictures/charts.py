"""Charts as SVG: bars, points and lines, estimates with intervals, matrices, histograms, meters.

Each kind is drawn on a `Plot`, which has the axes with round ticks and labels, and keeps every text inside. No font is
at hand, so that widths of texts are upper estimates.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from ppdm_flow.core.amounts import amount, between
from ppdm_flow.core.results import Chart, FigureSeries
from ppdm_flow.core.texts import fitted, shortened, width
from ppdm_flow.pictures.svg import Caption, element, file, linked, number, picture, tipped

WIDTH, HEIGHT = 400.0, 236.0
_TOP, _RIGHT, _BOTTOM = 26.0, 12.0, 46.0
_TYPE = 12.0
_ROW = 13.0
_APART = 14.0
_LABEL_CHARACTERS = 22

_ROUND = (1.0, 2.0, 2.5, 5.0, 10.0)
_FLAT = 1e-9  # a range this narrow, relative to its ends, is drawn as a point
_TINY = 1e-280
_HUGE = 1e300


@dataclass(frozen=True, slots=True)
class Scale:
    """A linear map of [low, high] to [start, end]; values outside are put at the ends."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Return the place of ``value``, to a tenth of a pixel."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 1)


def ticks(low: float, high: float, count: int = 5, *, integers: bool = False) -> tuple[float, ...]:
    """Return about ``count`` round numbers that cover [low, high], more than one even where that is a point.

    ``integers`` asks for whole numbers, as counts have.
    """
    largest = max(abs(low), abs(high))
    if high - low <= max(_FLAT * largest, _TINY):
        high = low + (largest if largest > _TINY else 1.0)
    raw = (high - low) / max(1, count - 1)
    size = 10.0 ** math.floor(math.log10(raw))
    steps = [size * factor for factor in _ROUND if size * factor >= raw * (1 - 1e-9)]
    step = (
        next((max(each, 1.0) for each in steps if each <= 1 or each.is_integer()), 10 * size) if integers else steps[0]
    )
    first = math.floor(low / step + 1e-9)
    last = math.ceil(high / step - 1e-9)
    return tuple(i * step for i in range(first, last + 1))


def tick_text(value: float, unit: str, step: float) -> str:
    """Write a tick as finely as the distance between ticks needs."""
    if abs(value) < step / 1e6:
        value = 0.0
    digits = max(3, math.ceil(math.log10(abs(value) / step)) + 2) if value else 3
    return amount(value, unit, digits)


@dataclass(frozen=True, slots=True)
class ChartAxis:
    """What stands beside an axis, and the unit of its values: ``share`` is written as percent.

    ``round_ends``: it ends at round numbers, with lines across the chart at each.
    """

    title: str = ""
    unit: str = ""
    round_ends: bool = False


class Plot:
    """A chart while it is drawn: its area, and its parts in the layers in which they are painted."""

    def __init__(self, wide: float = WIDTH, high: float = HEIGHT, kind: str = "chart") -> None:
        self.width, self.height, self.kind = wide, high, kind
        self.left, self.right, self.top, self.bottom = 8.0, wide - _RIGHT, _TOP, high - _BOTTOM
        self.grid: list[Markup] = []
        self.shapes: list[Markup] = []
        self.marks: list[Markup] = []
        self.texts: list[Markup] = []
        self.links = False

    @property
    def parts(self) -> list[Markup]:
        """All of them, in the order of painting."""
        return [*self.grid, *self.shapes, *self.marks, *self.texts]

    def picture(self, caption: Caption) -> Markup:
        """Return the chart for a page that has the style sheet of pictures."""
        return picture(self.parts, self.width, self.height, caption, self.kind, links=self.links)

    def text(self, x: float, y: float, words: str, anchor: str = "start", kind: str = "") -> None:
        """Write on one line, cut and moved so far that it stays in the picture; nothing where there are no words."""
        if not words:
            return
        bold = kind == "axis-title"
        words = fitted(words, _TYPE, self.width - 4, bold=bold)
        wide = width(words, _TYPE, bold=bold)
        least = {"start": 2.0, "middle": 2 + wide / 2, "end": 2 + wide}[anchor]
        x = max(min(x, self.width - 4 - wide + least), least)
        self.texts.append(
            element("text", words, class_=kind, x=x, y=y, text_anchor=anchor if anchor != "start" else None)
        )

    def values(self, low: float, high: float, axis: ChartAxis, *, integers: bool = False) -> Scale:
        """Draw the vertical axis of values, with a line across at each tick; what is left of it is taken."""
        marks = ticks(low, high, integers=integers)
        texts = [tick_text(mark, axis.unit, marks[1] - marks[0]) for mark in marks]
        self.left = max(34.0, max(width(text, _TYPE) for text in texts) + 10)
        scale = Scale(marks[0], marks[-1], self.bottom, self.top)
        for mark, text in zip(marks, texts, strict=True):
            y = scale(mark)
            self.grid.append(_line(self.left, y, self.right, y, "axis" if mark == 0 else "grid"))
            self.text(self.left - 6, y + 4, text, "end")
        self.text(2, 12, axis.title, kind="axis-title")
        return scale

    def numbers(self, low: float, high: float, axis: ChartAxis) -> Scale:
        """Draw the horizontal axis of numbers from ``low`` to ``high``."""
        if low >= high:
            low, high = low - 0.5, low + 0.5
        marks = ticks(low, high)
        if axis.round_ends:
            scale = Scale(marks[0], marks[-1], self.left, self.right)
            self.grid += [_line(scale(mark), self.top, scale(mark), self.bottom, "grid") for mark in marks]
            self.grid.append(_line(self.left, self.bottom, self.right, self.bottom, "axis"))
        else:
            scale = Scale(low, high, self.left + 8, self.right - 8)
        for mark in marks:
            if scale.low <= mark <= scale.high:
                text = tick_text(mark, axis.unit, marks[1] - marks[0]) if axis.round_ends else f"{mark:.10g}"
                self.text(scale(mark), self.bottom + 16, text, "middle")
        self._name(axis)
        return scale

    def words(self, labels: Sequence[str], axis: ChartAxis) -> Scale:
        """Draw the horizontal axis of words: as many as there is room for, in two rows where that is enough for all.

        Return the places of words by their number, from 0.
        """
        count = max(1, len(labels))
        slot = (self.right - self.left) / count
        texts = [shortened(label, _LABEL_CHARACTERS) for label in labels]
        widest = max((width(text, _TYPE) for text in texts), default=0.0) + 6
        every = max(1, math.ceil(widest / slot))
        rows = 2 if every == 2 else 1
        for i in range(0, len(texts), every // rows):
            self.text(self.left + (i + 0.5) * slot, self.bottom + 14 + _ROW * (i % rows), texts[i], "middle")
        self._name(axis)
        return Scale(-0.5, count - 0.5, self.left, self.right)

    def _name(self, axis: ChartAxis) -> None:
        self.text((self.left + self.right) / 2, self.height - 5, axis.title, "middle", "axis-title")

    def rows(
        self, labels: Sequence[str], pitch: float, reach: tuple[float, float], axis: ChartAxis, *, shown: bool = True
    ) -> Scale:
        """Draw rows that are ``pitch`` high, each with its label, and the horizontal axis of their values if shown."""
        texts = [shortened(label, _LABEL_CHARACTERS) for label in labels]
        self.left = max((width(text, _TYPE) for text in texts), default=0.0) + 14
        marks = ticks(*reach)
        scale = Scale(marks[0], marks[-1], self.left, self.right)
        for i, text in enumerate(texts):
            self.text(self.left - 8, self.top + pitch * (i + 0.5) + 4, text, "end")
        end = self.top + pitch * len(texts)
        for mark in marks if shown else (0.0,):
            self.grid.append(_line(scale(mark), 0, scale(mark), end, "axis zero" if mark == 0 else "grid"))
        if shown:
            for mark in marks:
                self.text(scale(mark), end + 15, tick_text(mark, axis.unit, marks[1] - marks[0]), "middle")
            self.text(self.right, end + 32, axis.title, "end", "axis-title")
        return scale

    def keys(self, keys: Iterable[tuple[str, str]]) -> None:
        """Explain marks below the chart: the shape and class of each (as ``square bar s1``), and what it means."""
        x, y = 4.0, self.height + 14
        for look, words in keys:
            wide = 28 + width(words, _TYPE)
            if x > 4 and x + wide > self.width:
                x, y = 4.0, y + 18
            shape, _, kind = look.partition(" ")
            self.marks.append(_mark(shape, x + 6, y - 4, 5, kind))
            self.text(x + 18, y, words)
            x += wide
        self.height = y + 8


def fits(title: str, wide: float = WIDTH) -> bool:
    """Whether the title of an axis can be written whole in a chart of that width."""
    return width(title, _TYPE, bold=True) <= wide - 4


def column(plots: Sequence[Plot], caption: Caption) -> str:
    """Return a file with charts below each other."""
    parts, y = [], _APART
    for plot in plots:
        parts.append(element("g", *plot.parts, transform=f"translate({number(_APART)} {number(y)})"))
        y += plot.height + _APART
    return file(parts, max(plot.width for plot in plots) + 2 * _APART, y, caption, "chart")


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> Markup:
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=kind)


def _mark(shape: str, x: float, y: float, radius: float, kind: str, tip: str = "") -> Markup:
    """Return a mark that is a ``circle``, ``ring`` or ``square``."""
    if shape == "square":
        half = 0.9 * radius
        return tipped("rect", tip, x=x - half, y=y - half, width=2 * half, height=2 * half, class_=kind)
    if shape == "ring":
        return tipped("circle", tip, cx=x, cy=y, r=1.3 * radius, class_="ring")
    return tipped("circle", tip, cx=x, cy=y, r=radius, class_=kind)


_BEFORE = frozenset({"original", "before", "base", "prior"})
_SHARE_WORDS = ("share", "probab", "frequen", "confiden", "risk", "rate", "distance", "posterior", "prior", "%")


def styles(names: Sequence[str]) -> list[str]:
    """Return the class of each series of a chart: grey for what was before, colours for all others in turn."""
    grey = [name.lower() in _BEFORE for name in names]
    return ["s0" if grey[i] else f"s{(i - any(grey[:i])) % 7 + 1}" for i in range(len(names))]


def bar_styles(chart: Chart) -> list[str]:
    """Return the class of each series of a bar chart, limits among them."""
    names = iter(styles([series.name for series in chart.series if not _is_limit(series)]))
    return ["limit" if _is_limit(series) else next(names) for series in chart.series]


def unit_of(chart: Chart) -> str:
    """Return ``share`` where the chart's values are shares by their label and range, else no unit."""
    words = f"{chart.y_label} {chart.title}".lower()
    named = any(word in words for word in _SHARE_WORDS)
    return "share" if named and all(-1 <= y <= 1 for series in chart.series for y in series.y) else ""


def ends(series: FigureSeries, index: int) -> tuple[float, float] | None:
    """Return the interval of one mark, if it has one."""
    return (series.low[index], series.high[index]) if index < min(len(series.low), len(series.high)) else None


def _is_limit(series: FigureSeries) -> bool:
    """Whether a series is a limit, which is drawn as a tick across the bars of the series after it."""
    return "limit" in series.name.lower()


def _count(chart: Chart, series: FigureSeries) -> range:
    """Return the positions that have both a label and a value."""
    return range(min(len(chart.x), len(series.y)))


def _extent(chart: Chart, *, zero: bool) -> tuple[float, float]:
    """Return the least and the largest value of all series and their intervals; with 0 if ``zero``."""
    values: list[float] = [0.0] if zero else []
    for series in chart.series:
        values += [*series.y, *series.low, *series.high]
    return (max(min(values), -_HUGE), min(max(values), _HUGE)) if values else (0.0, 1.0)


def _tip(chart: Chart, series: FigureSeries, index: int, unit: str) -> str:
    """Say in words what one mark shows."""
    name = f"{series.name}: " if series.name and len(chart.series) > 1 else ""
    text = f"{chart.x[index]} \N{MIDDLE DOT} {name}{amount(series.y[index], unit)}"
    interval = ends(series, index)
    return f"{text} ({between(interval, unit)})" if interval else text


_WIDEST_BAR = 40.0
_GAP = 8.0
_MOST_VALUES = 26  # lying bars that carry their value as text; more of them get an axis instead
_MOST_LYING = 44
_ORDERED = re.compile(r"^[\[(<>≤≥]?\s*-?\d")
"""A number or an interval: of such labels some may be left out."""


def bars(chart: Chart) -> Plot:
    """Return a bar chart: groups of bars, one bar a series, whiskers for intervals; lying where labels are long words.

    A series with ``limit`` in its name is drawn as ticks across the bars of the series after it.
    """
    lanes, count = _lanes(chart)
    slot = (WIDTH - 50) / max(1, len(chart.x))
    side_by_side = max((width(label, _TYPE) for label in chart.x), default=0.0) + 4 <= slot
    unit, extent = unit_of(chart), _extent(chart, zero=True)
    if side_by_side or all(_ORDERED.match(label) for label in chart.x) or len(chart.x) > _MOST_LYING:
        plot = Plot()
        integers = not unit and all(float(y).is_integer() for series in chart.series for y in series.y)
        scale = plot.values(*extent, ChartAxis(chart.y_label, unit), integers=integers)
        across = plot.words(chart.x, ChartAxis(chart.x_label))
        pitch = (across.end - across.start) / max(1, len(chart.x))
        thick = min(_WIDEST_BAR, pitch * 0.8 / count)
        begin = across.start + (pitch - thick * count) / 2
        _draw_bars(plot, chart, scale, (begin, pitch, thick), lanes, upright=True)
        return plot
    valued = len(chart.x) * count <= _MOST_VALUES
    thick = 15.0 if count == 1 else 13.0 if valued else 9.0
    pitch = thick * count + _GAP
    plot = Plot(high=pitch * len(chart.x) + (4 if valued else 26))
    plot.top, plot.right = 2.0, WIDTH - (60 if valued else 22)
    scale = plot.rows(chart.x, pitch, extent, ChartAxis(unit=unit), shown=not valued)
    _draw_bars(plot, chart, scale, (plot.top + _GAP / 2, pitch, thick), lanes, upright=False, valued=valued)
    return plot


def _lanes(chart: Chart) -> tuple[list[int], int]:
    """Return the lane of each series within a group of bars, and how many lanes there are."""
    lane_of, lane = [], 0
    for series in chart.series:
        lane_of.append(lane)
        lane += not _is_limit(series)
    count = max(1, lane)
    return [min(one, count - 1) for one in lane_of], count


def _draw_bars(
    plot: Plot,
    chart: Chart,
    scale: Scale,
    places: tuple[float, float, float],
    lanes: Sequence[int],
    *,
    upright: bool,
    valued: bool = False,
) -> None:
    """Place the bars with their whiskers and values, and the limits.

    ``places`` are where the first bar begins, how far groups are apart, and how thick a bar is.
    """
    begin, pitch, thick = places
    unit, zero = unit_of(chart), scale(0.0)

    def line(at: float, value: float, to: float, end: float, kind: str) -> None:
        plot.marks.append(_line(at, value, to, end, kind) if upright else _line(value, at, end, to, kind))

    for series, lane, style in zip(chart.series, lanes, bar_styles(chart), strict=True):
        for i in _count(chart, series):
            at, value = begin + pitch * i + thick * lane, series.y[i]
            end = scale(value)
            if style == "limit":
                line(at, end, at + thick, end, style)
                continue
            body, long = thick - (thick > 4), max(abs(end - zero), 0.8 if value else 0.0)
            x, y, wide, high = (at, min(end, zero), body, long) if upright else (min(end, zero), at, long, body)
            tip = _tip(chart, series, i, unit)
            plot.shapes.append(tipped("rect", tip, x=x, y=y, width=wide, height=high, class_=f"bar {style}"))
            if interval := ends(series, i):
                low, top = scale(interval[0]), scale(interval[1])
                line(at + body / 2, low, at + body / 2, top, "whisker")
                end = end if upright else max(end, top)
            if valued and value:
                plot.text(max(zero, end) + 5, at + body / 2 + 4, amount(value, unit), kind="value")


@dataclass(frozen=True, slots=True)
class ChartPoint:
    """A value ``y`` at a place ``x``.

    ``y_ends`` and ``x_ends`` are their intervals. ``tip`` says what the point is, ``label`` stands beside it,
    ``address`` makes it a link. ``hollow``, ``square`` and ``ring`` are its look.
    """

    x: float
    y: float
    tip: str = ""
    y_ends: Sequence[float] | None = None
    x_ends: Sequence[float] | None = None
    label: str = ""
    address: str = ""
    hollow: bool = False
    square: bool = False
    ring: bool = False


@dataclass(frozen=True, slots=True)
class PointLine:
    """Points in an order; ``style`` is the class that has their colour."""

    name: str
    points: tuple[ChartPoint, ...]
    style: str = "s1"


_MOST_DOTS = 40
_MOST_LABELS = 24
_POINT = 5.0


def lines(chart: Chart) -> Plot:
    """Return a line chart with bands for intervals; labels that are all numbers are placed to scale."""
    places = _numbers(chart.x)
    unit = unit_of(chart)
    drawn = []
    for series, style in zip(chart.series, styles([one.name for one in chart.series]), strict=True):
        points = (
            ChartPoint(places[i] if places else i, series.y[i], _tip(chart, series, i, unit), ends(series, i))
            for i in _count(chart, series)
        )
        drawn.append(PointLine(series.name, tuple(points), style))
    plot = Plot()
    axes = ChartAxis(chart.x_label), ChartAxis(chart.y_label, unit)
    return point_chart(drawn, *axes, plot=plot, bands=True, radius=3.2, words=() if places else chart.x)


def _numbers(labels: Sequence[str]) -> list[float] | None:
    try:
        numbers = [float(label) for label in labels]
    except ValueError:
        return None
    finite = all(math.isfinite(value) for value in numbers)
    return numbers if finite and len(set(numbers)) > 1 and numbers == sorted(numbers) else None


def point_chart(
    series: Sequence[PointLine],
    x: ChartAxis,
    y: ChartAxis,
    *,
    plot: Plot,
    joined: bool = True,
    bands: bool = False,
    border: Sequence[tuple[float, float]] = (),
    radius: float = _POINT,
    words: Sequence[str] = (),
) -> Plot:
    """Return a chart of points, ``joined`` by a line in each series, with whiskers or ``bands`` for intervals.

    ``border`` is a line through values of both axes. With ``words`` along the axis, ``x`` is the number of one, from 0.
    """
    points = [point for each in series for point in each.points]
    up = plot.values(*_with_air([end for p in points for end in (p.y, *(p.y_ends or ()))], y), y)
    reach = _with_air([end for p in points for end in (p.x, *(p.x_ends or ()))], x)
    across = plot.words(words, x) if words else plot.numbers(*reach, x)
    for each in series:
        spots = [(across(point.x), up(point.y)) for point in each.points]
        if joined and len(spots) > 1:
            plot.shapes.append(element("path", class_=f"line {each.style}", d=_path(spots)))
        if bands:
            plot.shapes += _band(each, spots, up)
        if not bands or len(spots) <= _MOST_DOTS:
            for point, spot in zip(each.points, spots, strict=True):
                _draw_point(plot, point, spot, across, up, f"dot {each.style}", radius, whiskers=not bands)
    if len(border) > 1:
        plot.shapes.append(element("path", class_="border", d=_path([(across(at), up(value)) for at, value in border])))
    _label_points(plot, [(point, across(point.x), up(point.y)) for point in points], across)
    return plot


def _with_air(values: Sequence[float], axis: ChartAxis) -> tuple[float, float]:
    """Return what has to be shown, on an axis that ends at round numbers with some air around."""
    low, high = max(min(values, default=0.0), -_HUGE), min(max(values, default=1.0), _HUGE)
    air = 0.04 * (high - low) if axis.round_ends else 0.0
    return (low if low >= 0 > low - air else low - air), high + air


def _path(spots: Iterable[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{number(x)} {number(y)}" for x, y in spots)


def _band(series: PointLine, spots: Sequence[tuple[float, float]], up: Scale) -> Iterator[Markup]:
    inside = [(x, p.y_ends) for p, (x, _) in zip(series.points, spots, strict=True) if p.y_ends]
    if len(inside) > 1:
        above, below = ([(x, up(both[end])) for x, both in inside] for end in (1, 0))
        yield element("path", class_=f"band {series.style}", d=_path([*above, *reversed(below)]) + "Z")


def _draw_point(
    plot: Plot,
    point: ChartPoint,
    spot: tuple[float, float],
    across: Scale,
    up: Scale,
    kind: str,
    radius: float,
    *,
    whiskers: bool,
) -> None:
    x, y = spot
    if whiskers and point.x_ends:
        plot.shapes.append(_line(across(point.x_ends[0]), y, across(point.x_ends[1]), y, "spread soft"))
    if whiskers and point.y_ends:
        plot.shapes.append(_line(x, up(point.y_ends[0]), x, up(point.y_ends[1]), "spread soft"))
    if point.ring:
        plot.marks.append(_mark("ring", x, y, 1.5 * radius, ""))
    kind += " hollow" if point.hollow else ""
    mark = _mark("square" if point.square else "circle", x, y, radius, kind, point.tip)
    plot.marks.append(linked(mark, point.address, point.tip))
    plot.links |= bool(point.address)


def _label_points(plot: Plot, spots: Sequence[tuple[ChartPoint, float, float]], across: Scale) -> None:
    """Write beside the points what they are, beside filled ones first; no text over another, a point or a whisker."""
    taken = [(x - _POINT, x + _POINT, y + 4) for _, x, y in spots]
    taken += [(across(p.x_ends[0]), across(p.x_ends[1]), y + 4) for p, _, y in spots if p.x_ends]
    labelled = [each for each in spots if each[0].label]
    if len(labelled) > _MOST_LABELS:
        labelled = [each for each in labelled if not each[0].hollow][:_MOST_LABELS]
    for point, x, y in sorted(labelled, key=lambda each: each[0].hollow):
        text = shortened(point.label, 26)
        wide = width(text, _TYPE)
        heights = [h for h in (y + 4, y - 9, y + 17) if plot.top < h < plot.bottom]
        places = [(s, h) for s in (x + 9, x - 9 - wide) for h in heights if plot.left < s and s + wide < plot.width - 4]
        free = next((place for place in places if not _hits(taken, *place, wide)), None)
        if free is not None:
            taken.append((free[0], free[0] + wide, free[1]))
            plot.text(*free, text, kind="halo" if point.hollow else "value halo")


def _hits(taken: Sequence[tuple[float, float, float]], start: float, height: float, wide: float) -> bool:
    return any(start < end and begin < start + wide and abs(height - at) < 12 for begin, end, at in taken)


_LANE = 12.0
_DOT = 3.6
_CAP = 3.0


def forest(chart: Chart) -> Plot:
    """Return estimates with intervals, one row a label, the series of a row beneath each other, a line at zero."""
    pitch = _LANE * max(1, len(chart.series)) + _GAP
    plot = Plot(high=pitch * len(chart.x) + 44)
    plot.top = 4.0
    unit = unit_of(chart)
    scale = plot.rows(chart.x, pitch, _extent(chart, zero=True), ChartAxis(chart.y_label, unit))
    for lane, (series, style) in enumerate(zip(chart.series, styles([s.name for s in chart.series]), strict=True)):
        for i in _count(chart, series):
            y = plot.top + pitch * i + _GAP / 2 + _LANE * (lane + 0.5)
            if interval := ends(series, i):
                low, high = scale(interval[0]), scale(interval[1])
                plot.shapes.append(_line(low, y, high, y, f"spread {style}"))
                plot.shapes += [_line(x, y - _CAP, x, y + _CAP, f"spread {style}") for x in (low, high)]
            plot.marks.append(
                _mark("circle", scale(series.y[i]), y, _DOT, f"dot {style}", _tip(chart, series, i, unit))
            )
    return plot


_TALLEST = 34.0
_NOISE = 1e-12  # smaller ones, relative to the largest, are rounding errors


def matrix(chart: Chart) -> Plot:
    """Return a matrix, one row a series, one column a label: a cell's depth of colour is its size, its hue its sign."""
    names = [shortened(series.name, 16) for series in chart.series]
    texts = [shortened(label, 14) for label in chart.x]
    columns = max(1, len(texts))
    left = max((width(name, _TYPE) for name in names), default=0.0) + 10
    longest = max((width(text, _TYPE) for text in texts), default=0.0)
    turned = longest > (WIDTH - left) / columns - 4
    wide = (WIDTH - left - 4) / columns
    if turned:  # each begins in the middle of its column, and leans out of the last ones
        wide = min([wide, *((WIDTH - left - 4 - 0.72 * width(t, _TYPE)) / (i + 0.5) for i, t in enumerate(texts))])
    tall = min(_TALLEST, max(16.0, wide * 0.8))
    top = longest * 0.75 + 16 if turned else 20.0
    plot = Plot(high=top + tall * len(names) + 4)
    for i, text in enumerate(texts):
        x, y = left + (i + 0.5) * wide, top - 6
        if turned:
            turn = f"rotate(-45 {number(x)} {number(y)})"
            plot.texts.append(element("text", text, x=x, y=y, transform=turn))
        else:
            plot.text(x, y, text, "middle")
    for j, name in enumerate(names):
        plot.text(left - 6, top + (j + 0.5) * tall + 4, name, "end")
    _draw_cells(plot, chart, left, top, wide, tall)
    return plot


def _draw_cells(plot: Plot, chart: Chart, left: float, top: float, wide: float, tall: float) -> None:
    """Place the cells, with their values in them where there is room for all."""
    unit = unit_of(chart)
    largest = max((abs(y) for row in chart.series for y in row.y), default=0.0) or 1.0
    rows = [[0.0 if abs(y) < largest * _NOISE else y for y in row.y[: len(chart.x)]] for row in chart.series]
    written = all(width(amount(y, unit, 2), 11) <= wide - 1.5 for row in rows for y in row)
    for j, row in enumerate(rows):
        for i, value in enumerate(row):
            x, y = left + i * wide, top + j * tall
            plot.shapes.append(
                tipped(
                    "rect",
                    _tip(chart, chart.series[j], i, unit),
                    x=x,
                    y=y,
                    width=wide - 1.5,
                    height=tall - 1.5,
                    class_="cell" if value >= 0 else "cell minus",
                    fill_opacity=f"{round(0.06 + 0.94 * abs(value) / largest, 3):g}",
                )
            )
            if written:
                plot.text(x + wide / 2, y + tall / 2 + 4, amount(value, unit, 2), "middle", "value")


@dataclass(frozen=True, slots=True)
class Bin:
    """A bar of a histogram: from ``low`` to ``high`` across, ``rows`` high."""

    low: float
    high: float
    rows: int
    tip: str = ""


def histogram(
    bins: Sequence[Bin], x: ChartAxis, y: ChartAxis, *, plot: Plot, reach: tuple[float, float] | None = None
) -> Plot:
    """Return how many rows have values between some edges; ``reach`` are values that it shows at least.

    A rectangle of class ``plot`` covers the place of the bars and says from which number to which it goes.
    """
    up = plot.values(0.0, max((each.rows for each in bins), default=1), y, integers=True)
    edges = [*(reach or ()), *(b.low for b in bins), *(b.high for b in bins)] or [0.0, 1.0]
    across = plot.numbers(min(edges), max(edges), x)
    place = {"x": across.start, "y": plot.top, "width": across.end - across.start, "height": plot.bottom - plot.top}
    ends_ = {"data_low": repr(across.low), "data_high": repr(across.high)}
    plot.shapes.append(element("rect", class_="plot", fill="none", **place, **ends_))
    for each in bins:
        left, top = across(each.low), up(float(each.rows))
        wide = max(across(each.high) - left - 1, 1.0)
        bar = {"x": left, "y": top, "width": wide, "height": plot.bottom - top}
        plot.shapes.append(tipped("rect", each.tip, class_="bar s1", **bar))
    return plot


METER_WIDTH, METER_HEIGHT = 260.0, 26.0
_EDGE = 8.0
_FAR = 4.0  # a figure beyond this many bounds is drawn at the end, with an arrow
_BROAD = 0.4  # probabilities with a bound from here on are shown on the whole of [0, 1]


def meter(
    measured: float | None,
    bound: float,
    *,
    at_most: bool,
    state: str,
    share: bool,
    interval: Sequence[float] | None = None,
    before: float | None = None,
) -> Plot:
    """Return how far a measured figure lies from its bound: allowed side, forbidden side, a mark.

    ``state`` is ``good``, ``bad`` or ``waived``. ``share`` says that the figure cannot leave [0, 1] where it is
    positive. ``before`` is the same figure of the original data: a hollow mark.
    """
    low, high = _meter_range(measured, bound, share, before)
    scale = Scale(low, high, _EDGE, METER_WIDTH - _EDGE)
    middle, limit = METER_HEIGHT / 2, scale(bound)
    plot = Plot(METER_WIDTH, METER_HEIGHT, "meter")
    sides = ("allowed", "forbidden") if at_most else ("forbidden", "allowed")
    for side, start, end in zip(sides, (0.0, limit), (limit, METER_WIDTH), strict=True):
        plot.grid.append(element("rect", x=start, y=middle - 5, width=end - start, height=10, class_=side))
    plot.shapes.append(_line(limit, 2, limit, METER_HEIGHT - 2, "bound"))
    if measured is None:
        return plot
    at = scale(measured)
    if interval:
        plot.shapes.append(_line(scale(interval[0]), middle, scale(interval[1]), middle, f"interval {state}"))
    if before is not None:
        plot.shapes.append(_line(scale(before), middle, at, middle, "moved"))
        plot.marks.append(_mark("circle", scale(before), middle, 4.5, "before"))
    plot.marks.append(_mark("circle", at, middle, 6, state))
    if not low <= measured <= high:
        head = (
            f"M{number(METER_WIDTH - 6)} {number(middle - 7)}l6 7l-6 7"
            if measured > high
            else f"M6 {number(middle - 7)}l-6 7l6 7"
        )
        plot.marks.append(element("path", d=head, class_="beyond"))
    return plot


def _meter_range(measured: float | None, bound: float, share: bool, before: float | None) -> tuple[float, float]:
    """Return the ends of the scale: 0 where that makes sense, the bound well inside, both figures visible."""
    value = bound if measured is None else measured
    if bound <= 0 or value < 0:
        reach = 1.35 * max(abs(value - bound), abs(bound), 0.05 if share else 1e-9)
        return bound - reach, bound + reach
    high = min(max(2 * bound, 1.15 * value, 1.05 * (before or 0.0)), _FAR * bound)
    if share and bound >= _BROAD:
        high = 1.0
    return 0.0, max(high, bound * 1.05)


KINDS: Mapping[str, Callable[[Chart], Plot]] = {"bars": bars, "lines": lines, "matrix": matrix, "forest": forest}
"""How the charts of audits are drawn, by their kind."""
