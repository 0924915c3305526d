"""Everything that the HTML page shows, as one value for the template."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from ppdm_flow.core.amounts import amount, between, duration, noted
from ppdm_flow.core.phrases import counted
from ppdm_flow.pictures.charts import meter
from ppdm_flow.pictures.svg import Caption
from ppdm_flow.plan.meanings import Meanings
from ppdm_flow.report.run.audience import Audience, audience
from ppdm_flow.report.run.checks import CheckedRequirement
from ppdm_flow.report.run.columns import ColumnList, SuppressedShare, columns, losses
from ppdm_flow.report.run.facts import Fact, ReleaseFacts, facts, outputs
from ppdm_flow.report.run.fields import FigureDocument, FindingDocument, ReportDocument, StepDocument
from ppdm_flow.report.run.gallery import Gallery, gallery
from ppdm_flow.report.run.kept import InformationKept, information_kept
from ppdm_flow.report.run.meanings import glossary
from ppdm_flow.report.run.tradeoff import Tradeoff, tradeoff
from ppdm_flow.report.run.verdict import PageVerdict, verdict
from ppdm_flow.report.run.wording import moment

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
        row = (rest, noted(figure["value"], unit, note), between(figure.get("interval"), unit), sample)
        groups.setdefault(owner, []).append((*row, note, meanings.of_figure(name)))
    return tuple(FigureGroup(owner, tuple(rows)) for owner, rows in groups.items())


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
