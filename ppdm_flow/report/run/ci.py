"""Results in CI of a judged release, or of an error: on GitHub, and as JUnit XML."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.spans import Span
from ppdm_flow.report import diagnostics as drawing
from ppdm_flow.report import junit
from ppdm_flow.report.junit import JUnitCase, JUnitOutcome, Suite
from ppdm_flow.report.run import markdown
from ppdm_flow.report.run.checks import CheckedRequirement, anchored
from ppdm_flow.report.run.fields import ResultDocument
from ppdm_flow.report.run.judgement import BrokenJudgement, RunJudgement
from ppdm_flow.report.run.verdict import PageVerdict, verdict
from ppdm_flow.report.snippet import Annotation, annotated, commands

_LASTING = 3
"""Digits of a duration."""


def junit_xml(judged: RunJudgement) -> str:
    """Return one suite, named as the policy."""
    document = judged.document
    outcome = verdict(document)
    results = anchored(document)
    every = sorted((*outcome.requirements, *outcome.gates), key=lambda check: (check.id, check.release))
    several = len({check.release for check in every}) > 1
    cases = [_case(judged, check, results[check.anchor], several) for check in every]
    cases += _unexplained(document["policy"], outcome)
    tally = {"waived": str(len(outcome.waived))} if outcome.waived else {}
    properties = {
        "verdict": "held" if outcome.held else "released" if outcome.released else "withheld",
        **tally,
        **_unprotected(outcome),
        **_strings(document["run"]),
    }
    return junit.render([Suite(document["policy"], cases, properties, str(document["run"].get("started") or ""))])


def _unprotected(outcome: PageVerdict) -> dict[str, str]:
    """Return the property that says where no requirement was judged."""
    if not outcome.without_requirements:
        return {}
    return {"requirements": f"none on {', '.join(outcome.bare_releases)}" if outcome.requirements else "none"}


def broken_junit(failure: BrokenJudgement) -> str:
    """Return one suite with a case that could not be judged."""
    diagnostics = failure.diagnostics
    text = drawing.render(diagnostics, failure.sources)
    case = JUnitCase(failure.what, "verdict", JUnitOutcome.ERROR, diagnostics[0].message, text, diagnostics[0].code)
    return junit.render([Suite(failure.what, [case])])


def _case(judged: RunJudgement, check: CheckedRequirement, result: ResultDocument, several: bool) -> JUnitCase:
    span = result["policy_span"]
    name = f"{check.id} [{check.release}]" if several and check.release else check.id
    return JUnitCase(
        judged.document["policy"],
        name,
        _OUTCOME[check.state],
        f"measured {check.measured}, asked {check.bound}{_waived(check)}",
        "\n".join(part for part in (check.sentence, check.advice and f"Next: {check.advice}") if part),
        check.kind,
        properties=dict(_properties(check, result)),
        file=judged.shown(span["file"]) if span else "",
        line=span["line"] if span else None,
    )


_OUTCOME = {"holds": JUnitOutcome.PASSED, "waived": JUnitOutcome.SKIPPED, "fails": JUnitOutcome.FAILED}


def _waived(check: CheckedRequirement) -> str:
    return f"; {check.waiver.terms}: {check.waiver.reason}" if check.waiver else ""


def _properties(check: CheckedRequirement, result: ResultDocument) -> Iterator[tuple[str, str]]:
    yield "measured", "" if check.figure is None else repr(check.figure)
    yield "bound", repr(check.limit)
    yield "direction", result["direction"]
    yield "metric", check.metric
    if check.ends:
        yield "interval", " ".join(repr(end) for end in check.ends)
    if check.unit:
        yield "unit", check.unit
    if check.release:
        yield "release", check.release


def _unexplained(policy: str, outcome: PageVerdict) -> list[JUnitCase]:
    """Return a failing case where every check holds and the data is withheld all the same: CI must not be green."""
    if outcome.released or outcome.failing:
        return []
    return [
        JUnitCase(
            policy,
            "verdict",
            JUnitOutcome.FAILED,
            "withheld, though every check holds",
            outcome.contradiction,
            "verdict",
        )
    ]


def _strings(run: dict[str, Any]) -> dict[str, str]:
    return {name: str(run[name]) for name in ("started", "finished", "seconds") if run.get(name) is not None}


def render(judged: RunJudgement) -> str:
    """Return workflow commands: what does not hold on the line that asks for it, then warnings, then the verdict."""
    return commands(_annotations(judged))


def summary(judged: RunJudgement, limit: int) -> str:
    """Return Markdown of at most ``limit`` bytes."""
    return markdown.render(judged.document, limit, judged.words)


def broken(failure: BrokenJudgement) -> str:
    """Return workflow commands for an error that ended the work."""
    return commands(annotated(d, failure.places) for d in failure.diagnostics)


def _annotations(judged: RunJudgement) -> Iterator[Annotation]:
    document = judged.document
    outcome = verdict(document, judged.words)
    results = anchored(document)
    for check in (*outcome.failing, *outcome.waived):
        yield _failing(judged, check, results[check.anchor])
    if not outcome.released and not outcome.failing:
        yield Annotation(Severity.ERROR, f"{document['policy']} withheld", (outcome.sentence, outcome.contradiction))
    for diagnostic in judged.warnings:
        yield annotated(diagnostic, judged.places, judged.file)
    for finding in document["findings"]:
        title = f"{finding['code']} {finding['subject']}".strip()
        if not finding.get("waived_by"):
            yield Annotation(Severity(finding["severity"]), title, (finding["text"],))
    if outcome.released:
        yield Annotation(
            Severity.INFO,
            f"{document['policy']} {outcome.word.lower()}",
            (outcome.sentence, outcome.caution),
        )


def _failing(judged: RunJudgement, check: CheckedRequirement, result: ResultDocument) -> Annotation:
    where = f" on {check.release}" if check.release else ""
    lines = (
        f"measured {check.measured}, asked {check.bound}",
        check.sentence,
        f"{check.waiver.terms}: {check.waiver.reason}" if check.waiver else "",
        f"next: {check.advice}" if check.advice else "",
    )
    severity = Severity.WARNING if check.waiver else Severity.ERROR
    span = result["policy_span"]
    title = f"{check.id} does not hold{where}{' (waived)' if check.waiver else ''}"
    if span is None:
        return Annotation(severity, title, lines)
    return Annotation(severity, title, lines, judged.shown(span["file"]), Span(**span))
