"""The frontier as a picture: one figure across, another upwards, a mark for each point."""

from __future__ import annotations

import csv as writer
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ppdm_flow.core.amounts import between
from ppdm_flow.pictures.charts import ChartAxis, ChartPoint, Plot, PointLine, column, fits, point_chart
from ppdm_flow.pictures.svg import Caption
from ppdm_flow.report.run.fields import facts
from ppdm_flow.report.run.html import environment, script_hash
from ppdm_flow.report.snippet import escaped
from ppdm_flow.report.sweep.rows import (
    BETTER,
    SweepDocument,
    SweepFigure,
    SweepMetric,
    SweepPoint,
    SweepRow,
    figure_at,
    recommended,
    rows,
    said,
    short,
    shown_points,
    standing,
    tidy,
    written,
)

_WIDTH, _HEIGHT = 440.0, 320.0
_MOST_PANELS = 6
_SHARES = frozenset({"share", "probability"})
_NOTHING = "Fewer than two figures can be compared, so there is nothing to draw."


@dataclass(frozen=True, slots=True)
class Panel:
    """One chart: its title, and a sentence for who cannot see it. ``looks`` are those of its points."""

    title: str
    plot: Plot
    spoken: str
    looks: frozenset[str]


def panels(document: SweepDocument) -> tuple[Panel, ...]:
    """Return a panel for the first compared figure with each of the others; none where there are fewer than two.

    Figures that are the same at every point are left out, if others are enough.
    """
    compared = [m for m in document["metrics"] if m["direction"] is not None]
    varying = [m for m in compared if len(_values(document, m)) > 1]
    chosen = varying if len(varying) > 1 else compared
    if len(chosen) < 2:
        return ()
    every = [metric["name"] for metric in document["metrics"]]
    names = dict(zip(every, short(every), strict=True))
    pairs = [(chosen[0], other) for other in chosen[1 : _MOST_PANELS + 1]]
    drawn = (_panel(document, one, other, names, joined=len(chosen) == 2) for one, other in pairs)
    return tuple(panel for panel in drawn if panel is not None)


def legend(drawn: Sequence[Panel]) -> Plot:
    """Return what the marks of the panels mean, below each other where they are not as wide as the panels."""
    looks = frozenset[str]().union(*(panel.looks for panel in drawn))
    plot = Plot(_WIDTH, 0.0)
    keys = {
        "filled": ("circle dot s1", "filled: not dominated"),
        "hollow": ("circle dot s0 hollow", "hollow: dominated"),
        "square": ("square dot s0 hollow", "square: a requirement or gate does not hold"),
        "ring": ("ring", "ring: the policy's own values"),
    }
    plot.keys(key for look, key in keys.items() if look in looks)
    return plot


def svg(document: SweepDocument) -> str:
    """Return the picture as one SVG file that needs nothing else, for light and dark backgrounds."""
    drawn = panels(document)
    caption = Caption(f"Sweep of {document['policy']}", " ".join(f"{p.spoken}." for p in drawn) or _NOTHING)
    if drawn:
        return column([*(panel.plot for panel in drawn), legend(drawn)], caption)
    empty = Plot(_WIDTH, 40.0)
    empty.text(8, 24, _NOTHING)
    return column([empty], caption)


def _values(document: SweepDocument, metric: SweepMetric) -> set[float]:
    values = (figure_at(p, metric["name"])["value"] for p in shown_points(document))
    return {tidy(value) for value in values if value is not None}


def _panel(
    document: SweepDocument, one: SweepMetric, other: SweepMetric, names: dict[str, str], *, joined: bool
) -> Panel | None:
    marks = list(_marks(document, one, other, names))
    if not marks:
        return None
    best = [point for mark, point in marks if mark["on_frontier"]]
    border = _border(best, smaller=one["direction"] == "min") if joined else []
    ordered = [point for _, point in sorted(marks, key=lambda each: each[0]["on_frontier"])]
    lines = [PointLine("", (point,), "s0" if point.hollow else "s1") for point in ordered]
    axes = (_axis(metric, names[metric["name"]]) for metric in (one, other))
    plot = point_chart(lines, *axes, plot=Plot(_WIDTH, _HEIGHT), joined=False, border=border)
    title = f"{names[other['name']]} against {names[one['name']]}"
    labels = "; ".join(point.label for point in best[:8])
    spoken = f"{title}: {len(marks)} points, of which {len(best)} are not dominated: {labels}"
    own = next((point.label for _, point in marks if point.ring), "")
    spoken += f"; the policy's own values are {own}" if own else ""
    looks = {look for point in ordered for look in ("hollow", "square", "ring") if getattr(point, look)}
    return Panel(title, plot, spoken, frozenset(looks | ({"filled"} if best else set())))


def _marks(
    document: SweepDocument, one: SweepMetric, other: SweepMetric, names: dict[str, str]
) -> Iterator[tuple[SweepPoint, ChartPoint]]:
    """Yield the points that have both figures: filled where not dominated, a square where they would be withheld."""
    paths = [axis["path"] for axis in document["over"]]
    axes = dict(zip(paths, short(paths), strict=True))
    varied = [path for path in paths if len({p["values"][path] for p in document["points"]}) > 1] or paths
    for point in shown_points(document):
        first, second = (figure_at(point, m["name"]) for m in (one, other))
        if first["value"] is None or second["value"] is None:
            continue
        label = ", ".join(f"{axes[path]} {point['values'][path]}" for path in varied)
        words = [f"{names[m['name']]} {_said(f, m['unit'])}" for m, f in ((one, first), (other, second))]
        yield (
            point,
            ChartPoint(
                tidy(first["value"]),
                tidy(second["value"]),
                f"{label}: {', '.join(words)}; {point['verdict']}, {standing(point)}",
                second.get("interval"),
                first.get("interval"),
                label,
                hollow=not point["on_frontier"],
                square=point["verdict"] != "released",
                ring=bool(point.get("own")),
            ),
        )


def _said(figure: SweepFigure, unit: str) -> str:
    interval = between(figure.get("interval"), unit)
    return written(figure, unit) + (f" ({interval})" if interval else "")


def _axis(metric: SweepMetric, name: str) -> ChartAxis:
    """Name an axis: by the whole name of its figure where there is room, since `share` alone says little."""
    titles = [f"{each} ({BETTER[metric['direction']]})" for each in (metric["name"], name)]
    title = next((each for each in titles if fits(each, _WIDTH)), titles[-1])
    return ChartAxis(title, metric["unit"] if metric["unit"] in _SHARES else "", round_ends=True)


def _border(best: Sequence[ChartPoint], *, smaller: bool) -> list[tuple[float, float]]:
    """Return the border of what is dominated: a staircase through the frontier, from the best figure across on."""
    places = sorted(((float(p.x), p.y) for p in best), key=lambda place: place[0] if smaller else -place[0])
    corners = (((after[0], before[1]), after) for before, after in pairwise(places))
    return [*places[:1], *(place for pair in corners for place in pair)]


# A sweep as text for a terminal, for a pull request and for a spreadsheet, and as a page that needs nothing else.


def plain(document: SweepDocument) -> str:
    """Return a sweep as aligned text. The frontier's points have a ``*`` before their number."""
    table = rows(document)
    lines = [["", "#", *table.axes, "verdict", *table.metrics, "standing", "time"]]
    lines += [_cells(row) for row in table.rows]
    text = [f"{document['policy']}: {said(document)}", *filter(None, [recommended(document)]), "", *_aligned(lines), ""]
    text += [f"{short}: {name}, {better}" for short, name, better in table.legend]
    failing = sorted({each for row in table.rows for each in row.failing})
    if failing:
        text += ["", "withheld because of: " + ", ".join(failing)]
    if any(row.on_frontier for row in table.rows):
        text.append("* not dominated: no other released point is at least as good in every figure and better in one")
    return "\n".join(text)


def markdown(document: SweepDocument) -> str:
    """Return a sweep as Markdown."""
    table = rows(document)
    head = ("#", *table.axes, "Verdict", *table.metrics, "Standing", "Time")
    lines = [f"## Sweep of {escaped(document['policy'])}", "", escaped(said(document)), ""]
    if choice := recommended(document):
        lines += [f"**{escaped(choice)}**", ""]
    lines += [f"| {' | '.join(escaped(cell) for cell in head)} |", f"|{' --- |' * len(head)}"]
    for row in table.rows:
        cells = [escaped(cell) for cell in _cells(row)[1:]]
        if row.on_frontier:
            cells[0] = f"**{cells[0]}**"
        lines.append(f"| {' | '.join(cells)} |")
    lines += ["", *(f"- `{short}`: `{name}`, {better}" for short, name, better in table.legend)]
    return "\n".join(lines) + "\n"


def csv(document: SweepDocument) -> str:
    """Return a sweep as CSV: one line a point, figures with their interval ends, unrounded."""
    names = [m["name"] for m in document["metrics"]]
    out = io.StringIO()
    sheet = writer.writer(out, lineterminator="\n")
    ends = [name + end for name in names for end in ("", ".low", ".high")]
    paths = [axis["path"] for axis in document["over"]]
    sheet.writerow(["number", *paths, "verdict", "on_frontier", "dominated_by", "seconds", "error", *ends])
    for point in document["points"]:
        figures = [cell for name in names for cell in _ends(figure_at(point, name))]
        standing = [str(point["on_frontier"]).lower(), point["dominated_by"], point["seconds"]]
        values = [point["values"][path] for path in paths]
        error = point["error"]["code"] if "error" in point else None
        sheet.writerow([point["number"], *values, point["verdict"], *standing, error, *figures])
    return out.getvalue()


def _cells(row: SweepRow) -> list[str]:
    figures = [f"{f} ({i})" if i else f for f, i in zip(row.figures, row.intervals, strict=True)]
    mark = "*" if row.on_frontier else ""
    return [mark, str(row.number), *row.values, row.verdict, *figures, row.standing, row.time]


def _ends(figure: SweepFigure) -> Iterable[float | None]:
    low, high = figure.get("interval") or (None, None)
    return figure["value"], low, high


def _aligned(lines: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        yield "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()


def render(document: SweepDocument) -> str:
    """Return the page of a sweep's document; the same document gives the same text."""
    template = environment().get_template("sweep.html.jinja")
    drawn = panels(document)
    pictures = [(panel.title, panel.plot.picture(Caption(panel.spoken))) for panel in drawn]
    keys = legend(drawn).picture(Caption("What the marks mean")) if drawn else ""
    return template.render(
        policy=document["policy"],
        said=said(document),
        recommended=recommended(document),
        pictures=pictures,
        keys=keys,
        table=rows(document),
        run=facts(document["run"]),
        script_hash=script_hash(),
    )
