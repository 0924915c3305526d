"""What a judged release says on GitHub: annotations, and the summary of the step."""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.spans import Span
from ppdm_flow.report.annotation import Annotation, annotated, commands
from ppdm_flow.report.run import markdown
from ppdm_flow.report.run.checks import Check, anchored
from ppdm_flow.report.run.fields import ResultDocument
from ppdm_flow.report.run.judgement import BrokenJudgement, Judgement
from ppdm_flow.report.run.verdict import verdict


def render(judged: Judgement) -> str:
    """Return workflow commands: what does not hold on the line that asks for it, then warnings, then the verdict."""
    return commands(_annotations(judged))


def summary(judged: Judgement, limit: int) -> str:
    """Return Markdown of at most ``limit`` bytes."""
    return markdown.render(judged.document, limit)


def broken(failure: BrokenJudgement) -> str:
    """Return workflow commands for an error that ended the work."""
    return commands(annotated(d, failure.places) for d in failure.diagnostics)


def _annotations(judged: Judgement) -> Iterator[Annotation]:
    document = judged.document
    found = verdict(document)
    results = anchored(document)
    for check in (*found.failing, *found.waived):
        yield _failing(judged, check, results[check.anchor])
    if not found.released and not found.failing:
        yield Annotation(Severity.ERROR, f"{document['policy']} withheld", (found.sentence, found.contradiction))
    for diagnostic in judged.warnings:
        yield annotated(diagnostic, judged.places, judged.file)
    for finding in document["findings"]:
        title = f"{finding['code']} {finding['subject']}".strip()
        if not finding.get("waived_by"):
            yield Annotation(Severity(finding["severity"]), title, (finding["text"],))
    if found.released:
        yield Annotation(Severity.INFO, f"{document['policy']} {found.word.lower()}", (found.sentence, found.caution))


def _failing(judged: Judgement, check: Check, result: ResultDocument) -> Annotation:
    where = f" on {check.release}" if check.release else ""
    lines = (
        f"measured {check.measured}, asked {check.bound}",
        check.sentence,
        f"{check.waiver.terms}: {check.waiver.reason}" if check.waiver else "",
        f"next: {check.lever}" if check.lever else "",
    )
    severity = Severity.WARNING if check.waiver else Severity.ERROR
    span = result["policy_span"]
    title = f"{check.id} does not hold{where}{' (waived)' if check.waiver else ''}"
    if span is None:
        return Annotation(severity, title, lines)
    return Annotation(severity, title, lines, judged.shown(span["file"]), Span(**span))
