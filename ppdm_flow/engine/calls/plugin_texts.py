"""What plugins say in words: the texts of a step or an audit that somebody writes down, each with its place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

from ppdm_flow.core.results import AuditOutcome, Chart, Finding, StepResult
from ppdm_flow.core.told import of_chart, of_figures, of_finding, texts
from ppdm_flow.plan.definition import AuditNode, Bound, StepNode
from ppdm_flow.sdk.anonymizer import Fitted


@dataclass(frozen=True, slots=True)
class PluginText:
    """One text: ``who`` says it and ``where``. ``published``: it lies beside a release, and not in the report."""

    who: str
    bound: Bound
    where: str
    text: str
    published: bool = False


Domains = Mapping[str, AbstractSet[str | None]]
"""Values by attribute."""


def of_step(node: StepNode, result: StepResult, fitted: Fitted, domains: Domains) -> Iterator[PluginText]:
    """Yield all that a step says; ``domains`` are the values of what it randomized, as they came to it."""
    who, bound = f"step `{node.name}` ({node.bound.info.name})", node.bound
    for text in of_figures(result.figures):
        yield PluginText(who, bound, "a figure", text)
    for text in texts(result.description):
        yield PluginText(who, bound, "its description", text)
    yield from _shown(who, bound, result.findings, result.charts)
    for text in _of_artifacts(fitted, domains):
        yield PluginText(who, bound, "a document beside the release", text, published=True)


def of_audit(node: AuditNode, outcome: AuditOutcome) -> Iterator[PluginText]:
    """Yield all that an audit says."""
    who, bound = f"audit `{node.name}` ({node.bound.info.name})", node.bound
    for text in of_figures(outcome.figures):
        yield PluginText(who, bound, "a figure", text)
    for each in outcome.measured:
        yield PluginText(who, bound, "a sentence", each.sentence)
        for text in (each.requirement, *of_figures({each.metric: each.figure})):
            yield PluginText(who, bound, "a figure", text)
    yield from _shown(who, bound, outcome.findings, outcome.charts)


def _shown(who: str, bound: Bound, findings: Iterable[Finding], charts: Iterable[Chart]) -> Iterator[PluginText]:
    for finding in findings:
        for text in of_finding(finding):
            yield PluginText(who, bound, "a finding", text)
    for chart in charts:
        for text in of_chart(chart):
            yield PluginText(who, bound, "a chart", text)


def _of_artifacts(fitted: Fitted, domains: Domains) -> Iterator[str]:
    """Yield the texts of a step's documents, but for the domains of the operators that it hands over with them.

    Whoever estimates from randomized values has to know which there are, so a channel publishes its domain.
    """
    known = {o.attribute: domains.get(o.attribute, set()) & set(o.domain) for o in fitted.operators.values()}
    for name, document in fitted.artifacts.items():
        yield name
        yield from texts(_without_domains(document, known))


def _without_domains(document: Mapping[str, Any], known: Domains) -> Mapping[str, Any]:
    entries = document.get("operators")
    if not isinstance(entries, list):
        return document
    return {**document, "operators": [_undomained(entry, known) for entry in entries]}


def _undomained(entry: Any, known: Domains) -> Any:
    if not isinstance(entry, Mapping) or not isinstance(entry.get("domain"), list):
        return entry
    own = known.get(str(entry.get("attribute")), set())
    return {**entry, "domain": [value for value in entry["domain"] if value not in own]}
