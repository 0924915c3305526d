"""The charts of a report, in sections."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from ppdm_flow.policy.language.kinds import RequirementSpec, kind_of
from ppdm_flow.report.plots.fields import ChartDocument
from ppdm_flow.report.plots.figure import MOST_CHARTS, Picture, budget, picture
from ppdm_flow.report.run.columns import CHART
from ppdm_flow.report.run.fields import ReportDocument
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
