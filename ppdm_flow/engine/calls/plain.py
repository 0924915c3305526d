"""Rebuilds other results of plugins from plain texts and numbers, so that exactly the searched texts are written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from numbers import Real
from typing import Any

from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.errors import RunError
from ppdm_flow.core.results import AuditOutcome, Chart, Figure, FigureSeries, Finding, Measured
from ppdm_flow.engine.faults import run_fault
from ppdm_flow.sdk.anonymizer import Fitted


class PlainRebuilder:
    """Rebuilds the results of the plugin ``who`` from plain values. Raises RunError for a value of the wrong type."""

    def __init__(self, who: str) -> None:
        self._who = who

    def fitted(self, fitted: Fitted) -> Fitted:
        """Return what ``fit`` made; the transform and the operators are as they were."""
        self._is(fitted, Fitted)
        return replace(
            fitted,
            figures=self.figures(fitted.figures),
            artifacts={self._text(name): self.document(each) for name, each in fitted.artifacts.items()},
            internal={self._text(name): self.document(each) for name, each in fitted.internal.items()},
            findings=tuple(map(self._finding, fitted.findings)),
            charts=tuple(map(self._chart, fitted.charts)),
        )

    def outcome(self, outcome: AuditOutcome) -> AuditOutcome:
        """Return what an audit found."""
        self._is(outcome, AuditOutcome)
        return AuditOutcome(
            self.figures(outcome.figures),
            tuple(map(self._measured, outcome.measured)),
            tuple(map(self._finding, outcome.findings)),
            tuple(map(self._chart, outcome.charts)),
        )

    def figures(self, figures: Mapping[str, Figure]) -> dict[str, Figure]:
        """Return figures by name."""
        return {self._text(name): self._figure(each) for name, each in figures.items()}

    def document(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """Return a JSON document."""
        rebuilt = json.loads(json.dumps(document, default=_jsonable))
        if not isinstance(rebuilt, dict):
            raise self._broken("a document that is not a map")
        return rebuilt

    def _figure(self, figure: Figure) -> Figure:
        self._is(figure, Figure)
        ends = figure.interval
        interval = None if ends is None else (self._number(ends[0]), self._number(ends[1]))
        value, sample = self._number(figure.value), self._number(figure.sample)
        return Figure(value, self._text(figure.unit), interval, sample, self._text(figure.note))

    def _measured(self, each: Measured) -> Measured:
        self._is(each, Measured)
        return Measured(
            self._text(each.requirement),
            self._text(each.metric),
            self._figure(each.figure),
            self._number(each.bound),
            bool(each.at_most),
            self._text(each.sentence),
            bool(each.verifiable),
        )

    def _finding(self, finding: Finding) -> Finding:
        self._is(finding, Finding)
        words = map(self._text, (finding.text, finding.subject, finding.release))
        return Finding(self._text(finding.code), Severity(finding.severity), *words)

    def _chart(self, chart: Chart) -> Chart:
        self._is(chart, Chart)
        words = {n: self._text(getattr(chart, n)) for n in _WORDS}
        return Chart(**words, x=tuple(map(self._text, chart.x)), series=tuple(map(self._series, chart.series)))

    def _series(self, series: FigureSeries) -> FigureSeries:
        self._is(series, FigureSeries)
        lines = (tuple(map(self._number, each)) for each in (series.y, series.low, series.high))
        return FigureSeries(self._text(series.name), *lines)

    def _text(self, text: str) -> str:
        self._is(text, str)
        return str.__str__(text)

    def _number(self, number: Any) -> Any:
        if number is not None and not isinstance(number, Real):
            raise self._broken(f"a {type(number).__name__} in the place of a number")
        return number

    def _is(self, given: object, kind: type) -> None:
        if not isinstance(given, kind):
            raise self._broken(f"a {type(given).__name__} in the place of a {kind.__name__}")

    def _broken(self, what: str) -> RunError:
        return run_fault("PPF905", f"{self._who} returned {what}")


_WORDS = ("id", "title", "kind", "x_label", "y_label", "note", "group", "release")


def _jsonable(value: Any) -> Any:
    """Return what JSON knows for maps, sets and numpy's numbers. Raises TypeError for anything else."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, AbstractSet):
        return sorted(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError("no JSON form")
