"""A report as a JSON document: the one value that every other form of the report is made from."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from enum import Enum
from numbers import Integral, Real
from pathlib import PurePath
from typing import Any, cast

from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.results import (
    Chart,
    Figure,
    FigureSeries,
    Finding,
    Report,
    RequirementResult,
    StepResult,
    WaiverResult,
)
from ppdm_flow.core.spans import Span
from ppdm_flow.policy.redaction import without
from ppdm_flow.report.run.fields import (
    INTERNAL,
    ChartDocument,
    FigureDocument,
    FindingDocument,
    ReportDocument,
    ReportWaiver,
    ResultDocument,
    SeriesDocument,
    SpanDocument,
    StepDocument,
)

_OWN = frozenset(("version", "audience", "policy", "verdict", "plan"))
"""What has no text of the policy's in it, or hides it itself."""


def document(report: Report) -> ReportDocument:
    """Return the JSON-ready form of a report, always with the same order of keys.

    Raises ValueError, naming the place, where a number is not finite, and TypeError where a value has no JSON form.
    """
    report_document: ReportDocument = {
        "version": 1,
        "audience": INTERNAL,
        "policy": report.policy,
        "verdict": report.verdict,
        "requirements": [_result(r, f"requirements.{r.id}") for r in report.requirements],
        "gates": [_result(r, f"gates.{r.id}") for r in report.gates],
        "metrics": _metrics(report),
        "steps": [_step(step) for step in report.steps],
        "findings": _findings(report),
        "waivers": [_waiver(waiver) for waiver in report.waivers],
        "charts": _charts(report),
        "releases": plain(report.releases, "releases"),
        "plan": plain(report.plan, "plan"),
        "run": plain(report.run, "run"),
    }
    hidden = {key: item if key in _OWN else without(item, report.secrets) for key, item in report_document.items()}
    return cast("ReportDocument", hidden)


def plain(value: Any, place: str) -> Any:
    """Return ``value`` as dicts, lists, text, numbers, booleans and None. Numpy scalars become plain numbers."""
    if type(value) is float:  # most values are numbers, and asking for the abstract kinds takes long
        return _finite(value, place)
    if type(value) is int:
        return value
    if isinstance(value, Enum):
        return plain(value.value, place)
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(item, f"{place}.{key}") for key, item in value.items()}
    if isinstance(value, AbstractSet):
        return plain(sorted(value), place)
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray | memoryview):
        return [plain(item, place) for item in value]
    return _scalar(value, place)


def _scalar(value: Any, place: str) -> Any:
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return _finite(float(value), place)
    if hasattr(value, "tolist"):  # a numpy boolean or array; numpy itself is not imported here
        return plain(value.tolist(), place)
    raise TypeError(f"{place} holds a {type(value).__name__}, which has no JSON form")


def _finite(value: float, place: str) -> float:
    if not math.isfinite(value):
        raise ValueError(f"{place} is not a finite number")
    return value


def _result(result: RequirementResult, place: str) -> ResultDocument:
    written: ResultDocument = {
        "id": result.id,
        "release": result.release,
        "metric": result.metric,
        "bound": plain(result.bound, f"{place}.bound"),
        "direction": result.direction,
        "measured": plain(result.measured, f"{place}.measured"),
        "holds": bool(result.holds),
        "policy_span": _span(result.span),
        "sentence": result.sentence,
    }
    if result.interval is not None:
        written["interval"] = plain(result.interval, f"{place}.interval")
    if result.waived_by:
        written["waived_by"] = result.waived_by
    return written


def _waiver(result: WaiverResult) -> ReportWaiver:
    span, covers = _span(result.waiver.span), list(result.covers)
    return {**result.waiver.document, "days_left": result.days_left, "covers": covers, "policy_span": span}


def _span(span: Span | None) -> SpanDocument | None:
    if span is None:
        return None
    return {
        "file": _place(span.file),
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
    }


def _place(file: str) -> str:
    """Return a path as the command line has it; of an absolute one the name: whose folder it is in is nobody's."""
    path = PurePath(file)
    return path.name if path.is_absolute() else file


def _figure(figure: Figure, place: str) -> FigureDocument:
    written: FigureDocument = {"value": plain(figure.value, place), "unit": figure.unit}
    if figure.interval is not None:
        written["interval"] = plain(figure.interval, f"{place}.interval")
    if figure.sample is not None:
        written["sample"] = int(figure.sample)
    if figure.note:
        written["note"] = figure.note
    return written


def _metrics(report: Report) -> dict[str, FigureDocument]:
    """Return all figures by name; those of steps appear under the step's name, whether or not the engine put them."""
    of_steps = {f"{step.name}.{name}": figure for step in report.steps for name, figure in step.figures.items()}
    every = of_steps | dict(report.metrics)
    return {name: _figure(every[name], f"metrics.{name}") for name in sorted(every)}


def _step(step: StepResult) -> StepDocument:
    place = f"steps.{step.name}"
    return {
        "name": step.name,
        "use": step.use,
        "version": step.version,
        "rows_in": int(step.rows_in),
        "rows_out": int(step.rows_out),
        "seconds": plain(step.seconds, f"{place}.seconds"),
        "figures": {name: _figure(step.figures[name], f"{place}.{name}") for name in sorted(step.figures)},
        "description": plain(step.description, f"{place}.description"),
    }


def _findings(report: Report) -> list[FindingDocument]:
    """Return the findings of the run and of its steps once each, errors first."""
    of_steps = (finding for step in report.steps for finding in step.findings)
    every = dict.fromkeys((*report.findings, *of_steps))
    order = {"error": 0, "warning": 1, "info": 2}
    ordered = sorted(every, key=lambda f: (order[f.severity.value], f.code, f.subject, f.release, f.text))
    waived = {hash_: each.waiver.name for each in report.waivers for hash_ in each.findings}
    return [finding_document(f, waived) for f in ordered]


def finding_document(finding: Finding, waived: Mapping[str, str]) -> FindingDocument:
    """Return a finding; ``waived`` has the name of its waiver by its hash, where one covers it."""
    written: FindingDocument = {
        "code": finding.code,
        "severity": finding.severity.value,
        "text": finding.text,
        "subject": finding.subject,
        "hash": finding.hash,
    }
    if finding.release:
        written["release"] = finding.release
    by = waived.get(finding.hash) if finding.severity is not Severity.ERROR else None
    if by:
        written["waived_by"] = by
    return written


def _charts(report: Report) -> list[ChartDocument]:
    """Return the charts of the run, then those that only a step holds, each once and with a name of its own."""
    of_steps = (chart for step in report.steps for chart in step.charts)
    every = tuple(dict.fromkeys((*report.charts, *of_steps)))
    names = _distinct(chart.id for chart in every)
    return [_chart(chart, name) for chart, name in zip(every, names, strict=True)]


def _distinct(names: Iterable[str]) -> list[str]:
    seen: dict[str, int] = {}
    shown = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        shown.append(name if seen[name] == 1 else f"{name}~{seen[name]}")
    return shown


def _chart(chart: Chart, name: str) -> ChartDocument:
    return {
        "id": name,
        "title": chart.title,
        "kind": chart.kind,
        "group": chart.group,
        "release": chart.release,
        "x": list(chart.x),
        "series": [_series(series, f"charts.{name}") for series in chart.series],
        "x_label": chart.x_label,
        "y_label": chart.y_label,
        "note": chart.note,
    }


def _series(series: FigureSeries, place: str) -> SeriesDocument:
    written: SeriesDocument = {"name": series.name, "y": plain(series.y, place)}
    if series.low and series.high:
        written |= {"low": plain(series.low, place), "high": plain(series.high, place)}
    return written
