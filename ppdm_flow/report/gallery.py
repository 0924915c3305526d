"""The charts of a report, in sections."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ppdm_flow.report.plots.figure import Picture, picture
from ppdm_flow.report.plots.limits import MOST_CHARTS, budget
from ppdm_flow.report.suppressed import CHART
from ppdm_flow.report.wording import spoken

_TITLES = {
    "distributions": "Before and after",
    "class_sizes": "How many people share a combination",
    "k_anonymity": "How many people share a combination",
    "reidentification_risk": "Risk of re-identification",
    "perturbation_utility": "What perturbation keeps",
    "classification_error": "Usefulness for classification",
    "templates": "What can be inferred",
    "sensitivities": "What can be learned",
    "associations": "Relations between attributes",
    "": "Further figures",
}
_OPEN = 12  # charts of a section that are shown without a click


@dataclass(frozen=True, slots=True)
class Wall:
    """One section of pictures; ``folded`` are behind a click."""

    id: str
    title: str
    pictures: tuple[Picture, ...]
    folded: tuple[Picture, ...]


@dataclass(frozen=True, slots=True)
class Gallery:
    """All sections. ``left_out`` are the titles of charts that the page has no room for."""

    walls: tuple[Wall, ...]
    left_out: tuple[str, ...]


def gallery(document: dict[str, Any]) -> Gallery:
    """Return the charts by their group, in the order of first appearance."""
    every = [chart for chart in document["charts"] if not chart["id"].endswith(CHART)]
    drawn = every[:MOST_CHARTS]
    marks = budget(len(drawn))
    groups: dict[str, list[Picture]] = {}
    for chart in drawn:
        groups.setdefault(_title(chart["group"]), []).append(picture(chart, marks))
    walls = [
        Wall(f"charts-{i}", title, tuple(found[:_OPEN]), tuple(found[_OPEN:]))
        for i, (title, found) in enumerate(groups.items())
    ]
    return Gallery(tuple(walls), tuple(chart["title"] for chart in every[MOST_CHARTS:]))


def _title(group: str) -> str:
    """Return the section's title; ``privacy.templates.x`` belongs to the section of all templates."""
    parts = group.split(".")
    name = parts[1] if parts[0] == "privacy" and len(parts) > 1 else group
    return _TITLES.get(name, spoken(name))
