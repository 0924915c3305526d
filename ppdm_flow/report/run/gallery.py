"""The charts of a report, in sections: each with its legend, its data, and a sentence for who cannot see it."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, replace

from markupsafe import Markup

from ppdm_flow.core.amounts import amount, between
from ppdm_flow.core.results import Chart, FigureSeries
from ppdm_flow.pictures.charts import KINDS, bar_styles, ends, styles, unit_of
from ppdm_flow.pictures.svg import Caption
from ppdm_flow.policy.language.kinds import RequirementSpec, kind_of
from ppdm_flow.report.run.columns import CHART
from ppdm_flow.report.run.fields import ChartDocument, ReportDocument
from ppdm_flow.report.run.wording import spoken

_SECTIONS = (
    ("Before and after", r"\.(shares|quantiles|density)$|^distributions$"),
    ("How many people share a combination", r"_by_size$|^class_sizes$"),
    ("Original rows in the release", ""),
    ("Risk of re-identification", r"^attackers$|^reidentification_risk$"),
    ("What can be inferred", ""),
    ("What can be learned", r"^corruption"),
    ("What can be inferred of sets", ""),
    ("What can still be found in randomized sets", r"randomize_transactions|itemset_recovery|discoverable_support"),
    ("What perturbation keeps", r"\.reconstruction$|^perturbation_utility$|\.shadow_prices$"),
    ("Usefulness for classification", r"classif|error_increase|^errors$"),
    ("What analyses say", r"^analyses$"),
    ("Relations between attributes", r"^(associations?|correlation)(_|$)"),
)
"""(title, pattern of a chart's id or group), in the order of the page; other sections follow.

Kinds of requirements say in which of them their charts stand.
"""
_OTHERS = "Further figures"
_OPEN = 12  # charts of a section that are shown without a click
_POINTS = 4000  # marks with tooltip and table cell on one page: about 700 kB
_FEWEST, _MOST = 40, 400
_MOST_LINE_POINTS = 400
_MOST_SERIES = 8
_MOST_ROWS = 60
MOST_CHARTS = 100
_WORDS = {"bars": "Bar chart", "lines": "Line chart", "matrix": "Matrix", "forest": "Estimates and intervals"}


@dataclass(frozen=True, slots=True)
class Picture:
    """``drawing`` is None where there is nothing to draw; ``rows`` begin with their label."""

    id: str
    title: str
    release: str
    note: str
    cut: str
    legend: tuple[tuple[str, str], ...]
    drawing: Markup | None
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    more: int


@dataclass(frozen=True, slots=True)
class GallerySection:
    """One section of pictures; ``folded`` are behind a click."""

    id: str
    title: str
    pictures: tuple[Picture, ...]
    folded: tuple[Picture, ...]


@dataclass(frozen=True, slots=True)
class Gallery:
    """All sections. ``left_out`` are the titles of charts that the page has no room for."""

    walls: tuple[GallerySection, ...]
    left_out: tuple[str, ...]


def gallery(document: ReportDocument) -> Gallery:
    """Return the charts by section; a step's chart of suppressed cells is a table elsewhere."""
    every = _merged([chart for chart in document["charts"] if not chart["id"].endswith(CHART)])
    drawn = every[:MOST_CHARTS]
    marks = budget(len(drawn))
    sections: dict[str, list[Picture]] = {title: [] for title, _ in _SECTIONS}
    for chart in drawn:
        sections.setdefault(_title(chart), []).append(picture(chart, marks))
    walls = [
        GallerySection(f"charts-{i}", title, tuple(charts[:_OPEN]), tuple(charts[_OPEN:]))
        for i, (title, charts) in enumerate(sections.items())
        if charts
    ]
    return Gallery(tuple(walls), tuple(chart["title"] for chart in every[MOST_CHARTS:]))


def _merged(charts: list[ChartDocument]) -> list[ChartDocument]:
    """Return the charts, those that look the same on several releases once, with the names of all of them."""
    chart_of: dict[str, ChartDocument] = {}
    for chart in charts:
        looks = json.dumps({key: value for key, value in chart.items() if key not in {"id", "release"}}, sort_keys=True)
        same = chart_of.setdefault(looks, chart)
        if same is not chart:
            names = dict.fromkeys(name for name in (same.get("release", ""), chart.get("release", "")) if name)
            chart_of[looks] = same | {"release": ", ".join(names)}
    return list(chart_of.values())


def _title(chart: ChartDocument) -> str:
    """Return the title of the section that a chart belongs to."""
    names = (chart["id"].partition("~")[0], chart["group"])
    sections = {spec.wording.section for name in names if (spec := _kind(name)) is not None}
    for title, pattern in _SECTIONS:
        if title in sections or (pattern and any(re.search(pattern, name) for name in names)):
            return title
    return spoken(chart["group"]) if chart["group"] else _OTHERS


def _kind(name: str) -> RequirementSpec | None:
    """Return the kind of requirement that a chart's id or group names."""
    parts = name.split(".")
    return kind_of(f"privacy.{parts[1] if parts[0] == 'privacy' and len(parts) > 1 else parts[0]}")


def budget(charts: int) -> int:
    """Return how many marks each of ``charts`` charts may have."""
    return max(_FEWEST, min(_MOST, _POINTS // max(1, charts)))


def picture(document: ChartDocument, marks: int) -> Picture:
    """Return a chart's picture of at most about ``marks`` marks. Raises ValueError for a kind that is not known."""
    if document["kind"] not in KINDS:
        raise ValueError(f"the kind of a chart must be one of {sorted(KINDS)}")
    shown, cut = trimmed(_chart(document), marks)
    empty = not shown.x or not any(series.y for series in shown.series)
    head, rows = _table(shown)
    return Picture(
        id=shown.id,
        title=shown.title,
        release=shown.release,
        note=shown.note,
        cut=cut,
        legend=_legend(shown),
        drawing=None if empty else KINDS[shown.kind](shown).picture(Caption(_spoken(shown))),
        head=head,
        rows=rows[:_MOST_ROWS],
        more=max(0, len(rows) - _MOST_ROWS),
    )


def _chart(document: ChartDocument) -> Chart:
    series = tuple(
        FigureSeries(one["name"], tuple(one["y"]), tuple(one.get("low", ())), tuple(one.get("high", ())))
        for one in document["series"]
    )
    words = (document["x_label"], document["y_label"], document["note"], document["group"], document.get("release", ""))
    return Chart(document["id"], document["title"], document["kind"], tuple(document["x"]), series, *words)


def trimmed(chart: Chart, marks: int) -> tuple[Chart, str]:
    """Return a chart of at most about ``marks`` marks, and a sentence where something was left out."""
    if chart.kind == "matrix":
        side = max(8, math.isqrt(2 * marks))
        return _cut(chart, range(min(side, len(chart.x))), side)
    if chart.kind == "lines":
        stride = max(1, -(-len(chart.x) // _MOST_LINE_POINTS))
        return _cut(chart, range(0, len(chart.x), stride), _MOST_SERIES)
    width = max(8, marks // max(1, min(len(chart.series), _MOST_SERIES)))
    return _cut(chart, range(min(width, len(chart.x))), _MOST_SERIES)


def _cut(chart: Chart, keep: range, most_series: int) -> tuple[Chart, str]:
    def at(values: tuple[float, ...]) -> tuple[float, ...]:
        return tuple(values[i] for i in keep if i < len(values))

    series = tuple(FigureSeries(one.name, at(one.y), at(one.low), at(one.high)) for one in chart.series[:most_series])
    gaps = []
    if len(keep) < len(chart.x):
        gaps.append(f"{len(keep):,} of {len(chart.x):,} labels")
    if len(series) < len(chart.series):
        gaps.append(f"{len(series):,} of {len(chart.series):,} {'rows' if chart.kind == 'matrix' else 'series'}")
    said = f"Shown: {' and '.join(gaps)}; the rest is in report.json." if gaps else ""
    return replace(chart, x=tuple(chart.x[i] for i in keep), series=series), said


def _legend(chart: Chart) -> tuple[tuple[str, str], ...]:
    if chart.kind == "matrix" or len(chart.series) < 2:
        return ()
    names = [series.name for series in chart.series]
    return tuple(zip(names, bar_styles(chart) if chart.kind == "bars" else styles(names), strict=True))


def _spoken(chart: Chart) -> str:
    values = [y for series in chart.series for y in series.y]
    unit = unit_of(chart)
    names = ", ".join(series.name for series in chart.series[:4] if series.name)
    shape = f"{_WORDS[chart.kind]} of {len(chart.x)} labels" + (f", {names}" if names else "")
    return f"{shape}: from {amount(min(values), unit)} to {amount(max(values), unit)}. The data stands below."


def _table(chart: Chart) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    unit = unit_of(chart)
    if chart.kind == "matrix":
        return ("", *chart.x), tuple((row.name, *(amount(y, unit) for y in row.y)) for row in chart.series)
    head = (chart.x_label, *(series.name or chart.y_label or "value" for series in chart.series))
    cells = ((chart.x[i], *(_cell(chart, series, i, unit) for series in chart.series)) for i in range(len(chart.x)))
    return head, tuple(cells)


def _cell(chart: Chart, series: FigureSeries, index: int, unit: str) -> str:
    if index >= len(series.y):
        return ""
    text = amount(series.y[index], unit)
    interval = ends(series, index) if chart.kind == "forest" else None
    return f"{text} ({between(interval, unit)})" if interval else text
