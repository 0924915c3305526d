"""The frontier as a picture: one figure across, another upwards, a mark for each point."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ppdm_flow.report.amounts import between
from ppdm_flow.report.plots.drawing import CHARACTER, Dot, Drawing, Label, Line, Path, Rect, shortened
from ppdm_flow.report.plots.scale import Scale, tick_text, ticks
from ppdm_flow.report.run.html import environment
from ppdm_flow.report.sweep.fields import SweepDocument, SweepFigure, SweepMetric, SweepPoint, figure_at, shown_points
from ppdm_flow.report.sweep.rows import BETTER, short, standing, tidy, written

WIDTH, HEIGHT = 560.0, 360.0
_TOP, _RIGHT, _BOTTOM = 26.0, 18.0, 44.0
_RADIUS = 5.0
_MOST_PANELS = 6
_MOST_LABELS = 24
_LABEL_CHARACTERS = 26
_LONGEST_NAME = 56
_SHARES = frozenset({"share", "probability"})


@dataclass(frozen=True, slots=True)
class Panel:
    """One picture: its title, its marks, and a sentence for who cannot see it.

    ``beaten`` and ``own`` say whether it shows a point that is dominated, and the policy's own one.
    """

    title: str
    drawing: Drawing
    spoken: str
    beaten: bool = True
    own: bool = False


@dataclass(frozen=True, slots=True)
class _Mark:
    """A point in one panel, with the ends of its intervals along both axes."""

    point: SweepPoint
    x: float
    y: float
    across: Sequence[float] | None
    upwards: Sequence[float] | None
    tip: str
    label: str


def panels(document: SweepDocument) -> tuple[Panel, ...]:
    """Return a panel for the first compared figure with each of the others; none where there are fewer than two.

    Figures that are the same at every point are left out, if others are enough.
    """
    compared = [m for m in document["metrics"] if m["direction"] is not None]
    varying = [m for m in compared if len(_values(document, m)) > 1]
    chosen = varying if len(varying) > 1 else compared
    if len(chosen) < 2:
        return ()
    names = dict(
        zip([m["name"] for m in document["metrics"]], short([m["name"] for m in document["metrics"]]), strict=True)
    )
    pairs = [(chosen[0], other) for other in chosen[1 : _MOST_PANELS + 1]]
    drawn = (_panel(document, one, other, names, joined=len(chosen) == 2) for one, other in pairs)
    return tuple(panel for panel in drawn if panel is not None)


def svg(document: SweepDocument) -> str:
    """Return the picture as one SVG file that needs nothing else, for light and dark backgrounds."""
    drawn = panels(document)
    template = environment().get_template("frontier.svg.jinja")
    return template.render(
        policy=document["policy"], panels=drawn, width=WIDTH, tall=HEIGHT, height=HEIGHT * max(1, len(drawn)) + 34
    )


def _values(document: SweepDocument, metric: SweepMetric) -> set[float]:
    values = (figure_at(p, metric["name"])["value"] for p in shown_points(document))
    return {tidy(value) for value in values if value is not None}


def _panel(
    document: SweepDocument, one: SweepMetric, other: SweepMetric, names: dict[str, str], *, joined: bool
) -> Panel | None:
    marks = list(_marks(document, one, other, names))
    if not marks:
        return None
    drawing = Drawing(WIDTH, HEIGHT)
    x, y = _scales(drawing, marks, (one, names[one["name"]]), (other, names[other["name"]]))
    if joined:
        _steps(drawing, marks, x, y, smaller=one["direction"] == "min", low=other["direction"] == "min")
    for mark in sorted(marks, key=lambda m: m.point["on_frontier"]):
        _draw(drawing, mark, x, y)
    _labels(drawing, marks, x, y)
    best = [m.label for m in marks if m.point["on_frontier"]]
    title = f"{names[other['name']]} against {names[one['name']]}"
    spoken = f"{title}: {len(marks)} points, of which {len(best)} are not dominated: {'; '.join(best[:8])}"
    own = next((m.label for m in marks if m.point.get("own")), "")
    spoken += f"; the policy's own values are {own}" if own else ""
    return Panel(title, drawing, spoken, len(best) < len(marks), bool(own))


def _marks(document: SweepDocument, one: SweepMetric, other: SweepMetric, names: dict[str, str]) -> Iterator[_Mark]:
    paths = [axis["path"] for axis in document["over"]]
    axes = dict(zip(paths, short(paths), strict=True))
    for point in shown_points(document):
        first, second = (figure_at(point, m["name"]) for m in (one, other))
        if first["value"] is None or second["value"] is None:
            continue
        varied = [path for path in paths if len({p["values"][path] for p in document["points"]}) > 1] or paths
        label = ", ".join(f"{axes[path]} {point['values'][path]}" for path in varied)
        words = [f"{names[m['name']]} {_said(f, m['unit'])}" for m, f in ((one, first), (other, second))]
        tip = f"{label}: {', '.join(words)}; {point['verdict']}, {standing(point)}"
        ends = [f.get("interval") for f in (first, second)]
        yield _Mark(point, tidy(first["value"]), tidy(second["value"]), ends[0], ends[1], tip, label)


def _said(figure: SweepFigure, unit: str) -> str:
    interval = between(figure.get("interval"), unit)
    return written(figure, unit) + (f" ({interval})" if interval else "")


def _scales(
    drawing: Drawing, marks: Sequence[_Mark], one: tuple[SweepMetric, str], other: tuple[SweepMetric, str]
) -> tuple[Scale, Scale]:
    """Choose both scales; draw the grid, the ticks and the names of the axes."""
    ys = ticks(*_extent([(m.y, m.upwards) for m in marks]))
    texts = [_tick(value, other[0]["unit"], ys) for value in ys]
    left = max(40.0, max(map(len, texts)) * CHARACTER + 14)
    bottom, right = HEIGHT - _BOTTOM, WIDTH - _RIGHT
    y = Scale(ys[0], ys[-1], bottom, _TOP)
    for value, text in zip(ys, texts, strict=True):
        drawing.back.append(Line(left, y(value), right, y(value), "grid"))
        drawing.labels.append(Label(left - 7, y(value) + 3.5, text, "end"))
    xs = ticks(*_extent([(m.x, m.across) for m in marks]))
    x = Scale(xs[0], xs[-1], left, right)
    for value in xs:
        drawing.back.append(Line(x(value), _TOP, x(value), bottom, "grid"))
        drawing.labels.append(Label(x(value), bottom + 16, _tick(value, one[0]["unit"], xs), "middle"))
    drawing.back.append(Line(left, bottom, right, bottom, "axis"))
    drawing.labels.append(Label(2, 12, _titled(*other), "start", "axis-title"))
    drawing.labels.append(Label(round((left + right) / 2, 1), HEIGHT - 8, _titled(*one), "middle", "axis-title"))
    return x, y


def _titled(metric: SweepMetric, name: str) -> str:
    """Name an axis: by the whole name of its figure where there is room, since `share` alone says little."""
    whole = metric["name"] if len(metric["name"]) <= _LONGEST_NAME else name
    return f"{whole} ({BETTER[metric['direction']]})"


def _tick(value: float, unit: str, every: Sequence[float]) -> str:
    return tick_text(value, unit if unit in _SHARES else "", every[1] - every[0])


def _extent(values: Sequence[tuple[float, Sequence[float] | None]]) -> tuple[float, float]:
    """Return what has to be shown: all values with their intervals, and some air around them."""
    every = [end for value, interval in values for end in (value, *(interval or ()))]
    low, high = min(every), max(every)
    air = 0.04 * (high - low)
    return (low if low >= 0 > low - air else low - air), high + air


def _steps(drawing: Drawing, marks: Sequence[_Mark], x: Scale, y: Scale, *, smaller: bool, low: bool) -> None:
    """Draw the border of what is dominated: a staircase through the frontier."""
    best = sorted((m for m in marks if m.point["on_frontier"]), key=lambda m: m.x if smaller else -m.x)
    if len(best) < 2:
        return
    places = [(x(m.x), y(m.y)) for m in best]
    data = f"M{places[0][0]:g} {places[0][1]:g}"
    for (_, before), (across, up) in pairwise(places):
        data += f"L{across:g} {before:g}L{across:g} {up:g}"
    drawing.paths.append(Path(data, f"border{'' if low else ' up'}"))


def _draw(drawing: Drawing, mark: _Mark, x: Scale, y: Scale) -> None:
    """Place one point: filled where it is not dominated, hollow where it is; a square where it would be withheld.

    A ring is around the policy's own values.
    """
    across, up = x(mark.x), y(mark.y)
    if mark.across is not None:
        drawing.lines.append(Line(x(mark.across[0]), up, x(mark.across[1]), up, "whisker"))
    if mark.upwards is not None:
        drawing.lines.append(Line(across, y(mark.upwards[0]), across, y(mark.upwards[1]), "whisker"))
    style = "best" if mark.point["on_frontier"] else "beaten"
    if mark.point.get("own"):
        drawing.dots.append(Dot(across, up, 2 * _RADIUS, "own"))
    if mark.point["verdict"] == "released":
        drawing.dots.append(Dot(across, up, _RADIUS, style, mark.tip))
    else:
        half = _RADIUS * 0.9
        drawing.rects.append(Rect(round(across - half, 1), round(up - half, 1), 2 * half, 2 * half, style, mark.tip))


def _labels(drawing: Drawing, marks: Sequence[_Mark], x: Scale, y: Scale) -> None:
    """Write the values beside the frontier's points, and beside all where they are few; none over another."""
    taken = [(x(m.x) - _RADIUS, x(m.x) + _RADIUS, y(m.y) + 3.5) for m in marks]
    chosen = marks if len(marks) <= _MOST_LABELS else [m for m in marks if m.point["on_frontier"]][:_MOST_LABELS]
    for mark in sorted(chosen, key=lambda m: not m.point["on_frontier"]):
        text = shortened(mark.label, _LABEL_CHARACTERS)
        wide, across, up = len(text) * CHARACTER, x(mark.x), y(mark.y)
        heights = [h for h in (up + 3.5, up - 9, up + 16) if h < HEIGHT - _BOTTOM]
        places = [(s, h) for s in (across + 9, across - 9 - wide) for h in heights if s > 0 and s + wide < WIDTH - 4]
        free = next(((s, h) for s, h in places if not _hits(taken, s, wide, h)), None)
        if free is not None:
            taken.append((free[0], free[0] + wide, free[1]))
            style = "value" if mark.point["on_frontier"] else ""
            drawing.labels.append(Label(round(free[0], 1), round(free[1], 1), text, "start", style))


def _hits(taken: Sequence[tuple[float, float, float]], start: float, wide: float, height: float) -> bool:
    return any(start < end and begin < start + wide and abs(height - at) < 11 for begin, end, at in taken)
