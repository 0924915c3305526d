"""Everything that the HTML page shows, as one value for the template."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from markupsafe import Markup

from ppdm_flow.core.amounts import amount, between, duration, noted
from ppdm_flow.core.pages import read
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.results import Chart, FigureSeries
from ppdm_flow.pictures.charts import KINDS, bar_styles, ends, meter, styles, unit_of
from ppdm_flow.pictures.svg import Caption
from ppdm_flow.plan.meanings import Meanings
from ppdm_flow.policy.language.kinds import RequirementSpec, kind_of
from ppdm_flow.report.run.checks import Audience, CheckedRequirement, audience
from ppdm_flow.report.run.columns import CHART, ColumnList, SuppressedShare, columns, losses
from ppdm_flow.report.run.fields import (
    ChartDocument,
    Fact,
    FigureDocument,
    FindingDocument,
    InformationKept,
    ReleaseFacts,
    ReportDocument,
    StepDocument,
    facts,
    information_kept,
    outputs,
)
from ppdm_flow.report.run.verdict import PageVerdict, verdict
from ppdm_flow.report.run.wording import moment, spoken

_OPEN_CHECKS = 12
_ON_SHEET = 10
_MOST_KEPT = 3
"""Releases that have a tile of their own."""


@dataclass(frozen=True, slots=True)
class CheckRow:
    """One check with its picture."""

    check: CheckedRequirement
    drawing: Markup


@dataclass(frozen=True, slots=True)
class CheckList:
    """The checks of one release; ``folded`` hold and are behind a click. ``heading`` is empty where there is one."""

    heading: str
    rows: tuple[CheckRow, ...]
    folded: tuple[CheckRow, ...]


@dataclass(frozen=True, slots=True)
class StepRow:
    """One step, worded; ``share`` is its part of all seconds, in [0, 1]."""

    name: str
    use: str
    version: str
    rows_in: str
    rows_out: str
    seconds: str
    share: float
    figures: tuple[tuple[str, str, str], ...]
    description: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class FigureGroup:
    """The figures of one audit, step or requirement kind: (name, value, interval, rows looked at, note, meaning)."""

    name: str
    rows: tuple[tuple[str, str, str, str, str, str], ...]


@dataclass(frozen=True, slots=True)
class ReportPage:
    """The whole page."""

    policy: str
    stamp: str
    audience: Audience
    verdict: PageVerdict
    requirements: tuple[CheckList, ...]
    gates: tuple[CheckList, ...]
    releases: tuple[ReleaseFacts, ...]
    columns: tuple[ColumnList, ...]
    steps: tuple[StepRow, ...]
    total_seconds: str
    losses: tuple[SuppressedShare, ...]
    kept: tuple[InformationKept, ...]
    tradeoff: Tradeoff
    gallery: Gallery
    findings: tuple[FindingDocument, ...]
    figures: tuple[FigureGroup, ...]
    figure_count: int
    glossary: tuple[tuple[str, str], ...]
    run: tuple[Fact, ...]
    sheet: tuple[CheckedRequirement, ...]
    sheet_more: int
    tiles: tuple[tuple[str, str], ...]

    @property
    def kept_title(self) -> str:
        """Name the section on what is kept: where nothing else was measured, the likeness of generated rows."""
        titles = [each.heading_of_section for each in self.kept]
        return titles[0] if titles and _INFORMATION not in titles else _INFORMATION


_INFORMATION = "Information kept"


def page(document: ReportDocument, words: tuple[str, str] | None = None) -> ReportPage:
    """Return the page of a report document. ``words`` are as in `verdict`."""
    judged = verdict(document, words)
    sheet = (*judged.failing, *judged.waived, *(c for c in (*judged.requirements, *judged.gates) if c.holds))
    seconds = _seconds(document["steps"])
    return ReportPage(
        policy=document["policy"],
        stamp=_stamp(document["run"]),
        audience=audience(document),
        verdict=judged,
        requirements=_lists(judged.requirements),
        gates=_lists(judged.gates),
        releases=outputs(document),
        columns=columns(document),
        steps=tuple(_step(step, seconds) for step in document["steps"]),
        total_seconds="" if seconds is None else duration(seconds),
        losses=losses(document),
        kept=information_kept(document),
        tradeoff=tradeoff(document, judged),
        gallery=gallery(document),
        findings=tuple(document["findings"]),
        figures=_figures(document["metrics"], Meanings.of(document["plan"])),
        figure_count=len(document["metrics"]),
        glossary=tuple(glossary(document)),
        run=tuple(facts(document["run"])),
        sheet=sheet[:_ON_SHEET],
        sheet_more=max(0, len(sheet) - _ON_SHEET),
        tiles=_tiles(document, judged, seconds),
    )


def _seconds(steps: Sequence[StepDocument]) -> float | None:
    """Return how long all steps took; None where that is not known of one of them."""
    known = [step["seconds"] for step in steps if step["seconds"] is not None]
    return sum(known) if len(known) == len(steps) else None


def _stamp(run: dict[str, Any]) -> str:
    """Return when the run was."""
    return next((moment(str(run[name])) for name in ("finished", "started") if run.get(name)), "")


def _lists(checks: Sequence[CheckedRequirement]) -> tuple[CheckList, ...]:
    names = list(dict.fromkeys(check.release for check in checks))
    lists = []
    for name in names:
        rows = [_row(check) for check in checks if check.release == name]
        telling = sum(not row.check.holds for row in rows)
        shown = max(telling, _OPEN_CHECKS)
        heading = f"Release {name}" if name else "All releases"
        lists.append(CheckList(heading if len(names) > 1 else "", tuple(rows[:shown]), tuple(rows[shown:])))
    return tuple(lists)


def _row(check: CheckedRequirement) -> CheckRow:
    drawing = meter(
        check.figure,
        check.limit,
        at_most=check.at_most,
        state="good" if check.holds else "bad" if check.waiver is None else "waived",
        share=check.share,
        interval=check.ends,
        before=check.figure_before,
    )
    before = f"; {check.before} in the original" if check.before else ""
    return CheckRow(check, drawing.picture(Caption(f"measured {check.measured}; {check.bound} is asked{before}")))


def _step(step: StepDocument, total: float | None) -> StepRow:
    figures = tuple(
        (name.replace("_", " "), amount(figure["value"], figure["unit"]), figure.get("note", ""))
        for name, figure in step["figures"].items()
    )
    return StepRow(
        step["name"],
        step["use"],
        step["version"],
        f"{step['rows_in']:,}",
        f"{step['rows_out']:,}",
        duration(step["seconds"]),
        step["seconds"] / total if total and step["seconds"] else 0.0,
        figures,
        tuple(facts(step["description"], 40)),
    )


def _figures(metrics: dict[str, FigureDocument], meanings: Meanings) -> tuple[FigureGroup, ...]:
    groups: dict[str, list[tuple[str, str, str, str, str, str]]] = {}
    for name, figure in metrics.items():
        owner, _, rest = name.partition(".")
        unit = figure["unit"]
        sample = f"{figure['sample']:,}" if "sample" in figure else ""
        note = figure.get("note", "")
        row = (_in_words(rest), noted(figure["value"], unit, note), between(figure.get("interval"), unit), sample)
        groups.setdefault(owner, []).append((*row, note, meanings.of_figure(name)))
    return tuple(FigureGroup(owner, tuple(rows)) for owner, rows in groups.items())


_TOGETHER = re.compile(r"^(.*\.)?(together_(\w+))$")


def _in_words(figure: str) -> str:
    """Return the name of a figure, and in words what it is about where that is all releases of a run."""
    match = _TOGETHER.fullmatch(figure)
    return f"{figure}: {match[3].replace('_', ' ')} for somebody who has all releases" if match else figure


def _rows_read(document: ReportDocument) -> int:
    """Return the rows that the steps began with; those of linked tables together."""
    tables = document["run"].get("input", {}).get("tables", {})
    return sum(table["rows_used"] for table in tables.values()) or document["steps"][0]["rows_in"]


def _tiles(document: ReportDocument, judged: PageVerdict, seconds: float | None) -> tuple[tuple[str, str], ...]:
    tiles = []
    for name, checks in (("requirements hold", judged.requirements), ("gates hold", judged.gates)):
        if checks:
            tiles.append((f"{sum(c.holds for c in checks):,} of {len(checks):,}", name))
    if judged.waived:
        tiles.append((f"{len(judged.waived):,}", "waived"))
    tiles += [(kept.text, kept.heading) for kept in information_kept(document)[:_MOST_KEPT]]
    if document["steps"]:
        tiles.append((f"{_rows_read(document):,}", "rows read"))
        seconds_run = document["run"].get("seconds", seconds)
        tiles.append((duration(seconds_run), f"for {counted(len(document['steps']), 'step')} and the audits"))
    return tuple(tiles)


# Privacy against utility: how much of each bound is used, what risk remains, what the release still is good for.


_MOST = 10
_TRADEOFF_MOST_KEPT = 20
_SHARES = frozenset({"share", "probability"})

_KEPT = {
    "mean_kept": (_INFORMATION, True),
    "pair_likeness": ("Tables of two columns as in the original", True),
    "record_utility": ("Rows that keep their value", True),
    "distribution_utility": ("Frequencies that can be estimated back", True),
    "error_increase": ("Classification as good as with the original", False),
    "mean_generalization_loss": ("Detail kept", False),
    "rows_lost": ("Rows kept", False),
    "mean_total_variation": ("Distributions as in the original", False),
    "mean_association_change": ("Relations between attributes as in the original", False),
    "suppressed_cells": ("Cells not suppressed", False),
}
"""Figure: what is kept by it, and whether it counts what is kept; the others count what is lost."""
_RISKS = {
    "prosecutor_highest": "Highest risk of a person known to be in the data",
    "prosecutor_average": "Average risk of a person known to be in the data",
    "marketer_average": "Share of all persons that a mass attack finds",
}

_ORDER = (*_RISKS, *_KEPT)


@dataclass(frozen=True, slots=True)
class Gauge:
    """A share in [0, 1] as a bar, with the text beside it; ``release`` is empty where there is one only.

    ``state`` is ``holds``, ``waived`` or ``fails``.
    """

    name: str
    release: str
    share: float
    text: str
    state: str = "holds"

    @property
    def good(self) -> bool:
        """Whether it holds."""
        return self.state == "holds"


@dataclass(frozen=True, slots=True)
class Tradeoff:
    """Both sides: ``used`` of the bounds and ``risks`` that remain; ``kept`` of the data's worth."""

    used: tuple[Gauge, ...]
    risks: tuple[Gauge, ...]
    kept: tuple[Gauge, ...]
    more: int

    def __bool__(self) -> bool:
        return bool(self.used or self.risks or self.kept)


@dataclass(frozen=True, slots=True)
class _Share:
    """A metric that is a share, taken apart: ``release/owner.name``."""

    release: str
    owner: str
    name: str
    value: float
    unit: str
    interval: Sequence[float] | None

    def text(self, *, is_loss: bool = False) -> str:
        """Return the share with its interval; of a loss what is left of 1."""
        value, ends = self.value, self.interval
        if is_loss:
            value, ends = 1 - value, None if ends is None else [1 - end for end in ends[::-1]]
        interval = between(ends, self.unit)
        return amount(value, self.unit) + (f" ({interval})" if interval else "")


def tradeoff(document: ReportDocument, judged: PageVerdict) -> Tradeoff:
    """Return both sides; the requirements that are nearest to their bound first."""
    several = len(judged.releases) > 1
    used = [gauge for check in judged.requirements if (gauge := _used(check, several)) is not None]
    used.sort(key=lambda gauge: -gauge.share)
    shares = sorted(_measured(document), key=lambda share: (share.release, _ORDER.index(share.name)))
    risks = [Gauge(_RISKS[s.name], s.release, _inside(s.value), s.text()) for s in shares if s.name in _RISKS]
    kept = [_kept(share) for share in shares if share.name in _KEPT]
    return Tradeoff(
        tuple(used[:_MOST]), tuple(risks[:_MOST]), tuple(kept[:_TRADEOFF_MOST_KEPT]), max(0, len(used) - _MOST)
    )


def _used(check: CheckedRequirement, several: bool) -> Gauge | None:
    """Return how much of the bound is used: 100% is exactly at it. None where a ratio means nothing."""
    if check.figure is None or check.limit <= 0 or check.figure < 0:
        return None
    part, budget = (check.figure, check.limit) if check.at_most else (check.limit, check.figure)
    ratio = part / budget if budget else 1.0
    name = check.title if check.title == check.kind else f"{check.kind} {check.title}"
    return Gauge(name, check.release if several else "", _inside(ratio), amount(ratio, "share"), check.state)


def _measured(document: ReportDocument) -> Iterator[_Share]:
    """Yield the figures that count here; a step's own only where no audit measured the same."""
    steps = {step["name"] for step in document["steps"]}
    every = (_share(name, figure) for name, figure in document["metrics"].items())
    shares = [share for share in every if share is not None and share.name in _ORDER]
    audited = {share.name for share in shares if share.owner not in steps}
    return (share for share in shares if share.owner not in steps or share.name not in audited)


def _share(name: str, figure: FigureDocument) -> _Share | None:
    value, unit = figure["value"], figure["unit"]
    if value is None or unit not in _SHARES or not -1 <= value <= 1:
        return None
    owner, _, rest = name.partition(".")
    release, slash, audit = owner.partition("/")
    return _Share(release if slash else "", audit if slash else owner, rest, value, unit, figure.get("interval"))


def _kept(share: _Share) -> Gauge:
    words, is_kept = _KEPT[share.name]
    kept = share.value if is_kept else 1 - share.value
    return Gauge(words, share.release, _inside(kept), share.text(is_loss=not is_kept))


def _inside(value: float) -> float:
    return min(1.0, max(0.0, value))


# The charts of a report, in sections: each with its legend, its data, and a sentence for who cannot see it.


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
_FEWEST, _GALLERY_MOST = 40, 400
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
    return max(_FEWEST, min(_GALLERY_MOST, _POINTS // max(1, charts)))


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


PAGE = "glossary"
RANDOMNESS, DIGEST = "Sealed, reproducible", "Digest (SHA-256)"
"""Terms that no pattern finds: they are in what a report says of the run itself."""
_PARTS = ("requirements", "gates", "metrics", "steps", "findings")


def glossary(document: ReportDocument) -> list[tuple[str, str]]:
    """Return (term, explanation) for the terms that this report uses, in a fixed order."""
    text = json.dumps({part: value for part, value in document.items() if part in _PARTS}, ensure_ascii=False).lower()
    page = read(PAGE)
    terms = [term for term, pattern in page.entry("patterns").items() if re.search(pattern, text)]
    run = json.dumps(document["run"]).lower()
    if "sealed" in run or "reproducible" in run:
        terms.append(RANDOMNESS)
    if re.search(r"[0-9a-f]{64}", json.dumps([document["run"], document["releases"]])):
        terms.append(DIGEST)
    return [(term, page.section(term)) for term in terms]
