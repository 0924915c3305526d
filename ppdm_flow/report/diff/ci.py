"""What a comparison says in CI: on GitHub at the line of every clause that changed, and as JUnit XML."""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.spans import Span
from ppdm_flow.report import junit
from ppdm_flow.report.annotation import Annotation, commands
from ppdm_flow.report.diff.fields import (
    REMOVED,
    ClauseChange,
    ClauseSide,
    DiffDocument,
    Difference,
    OutcomePair,
    PolicyPair,
    added,
)
from ppdm_flow.report.junit import JUnitCase, JUnitOutcome, Suite

_SEVERITY = {"weaker": Severity.ERROR, "incomparable": Severity.WARNING, "stronger": Severity.INFO}
_LAX = ("weaker", "incomparable")


def workflow_commands(subject: Difference) -> str:
    """Return workflow commands for what is weaker, incomparable or stronger; neutral changes are left out."""
    return commands(_annotations(subject.document))


def _annotations(document: DiffDocument) -> Iterator[Annotation]:
    for pair in document["pairs"]:
        for change in (*pair["changes"], *pair["governance"]):
            severity = _SEVERITY.get(change["verdict"])
            if severity is not None:
                file, span = _where(change["new"], pair["new"])
                title = f"{change['clause']}: {change['verdict']}"
                yield Annotation(severity, title, (change["why"], *_texts(change)), file, span)
    for name, accepted, why in added(document):
        severity = Severity.INFO if accepted else Severity.ERROR
        yield Annotation(severity, f"{name}: added", (why,), name)
    for name in document["removed"]:
        yield Annotation(Severity.WARNING, f"{name}: removed", (REMOVED,))


def _texts(change: ClauseChange) -> Iterator[str]:
    sides = {"old": change["old"], "new": change["new"]}
    yield from (f"{name}: {side['text']}" for name, side in sides.items() if side is not None)


def _where(side: ClauseSide | None, file: str) -> tuple[str, Span | None]:
    """Return the place in the new policy; what was removed has none but the file itself."""
    if side is None or "file" not in side:
        return file, None
    line, column = side["line"], side["column"]
    return side["file"], Span(side["file"], line, column, line, column + 1)


def junit_xml(subject: Difference) -> str:
    """Return a suite for each pair of policies, with a case for each change, and one for what came and what went."""
    document = subject.document
    suites = [Suite(pair["new"], list(_cases(pair)), {"relation": pair["relation"]}) for pair in document["pairs"]]
    came = [
        JUnitCase("added", name, _outcome(not ok), why, why, "added", file=name) for name, ok, why in added(document)
    ]
    gone = [
        JUnitCase("removed", name, JUnitOutcome.SKIPPED, REMOVED, REMOVED, "removed") for name in document["removed"]
    ]
    suites += [Suite("added and removed policies", [*came, *gone])] if came or gone else []
    suites += [Suite(document["runs"]["new"]["name"], _judged(document["runs"]))] if "runs" in document else []
    return junit.render(suites, "ppdm-flow diff")


def _cases(pair: PolicyPair) -> Iterator[JUnitCase]:
    changes = (*pair["changes"], *pair["governance"])
    if not changes:
        yield JUnitCase(pair["new"], "policy", text="no change")
    for change in changes:
        verdict = change["verdict"]
        file, span = _where(change["new"], pair["new"])
        text = "\n".join((change["why"], *_texts(change)))
        message = f"{verdict}: {change['why']}"
        line = span.line if span else None
        yield JUnitCase(
            pair["new"], change["clause"], _outcome(verdict in _LAX), message, text, verdict, file=file, line=line
        )


def _judged(both: OutcomePair) -> list[JUnitCase]:
    """Return a case for each requirement and gate of the new run."""
    cases = []
    for each in both["results"]:
        if each["new"] is not None:
            name = f"{each['metric']} [{each['release']}]" if each["release"] else each["metric"]
            fails = not each["new"]["holds"]
            cases.append(
                JUnitCase(both["new"]["name"], name, _outcome(fails), "does not hold" if fails else "", "", each["id"])
            )
    return cases


def _outcome(fails: bool) -> JUnitOutcome:
    return JUnitOutcome.FAILED if fails else JUnitOutcome.PASSED
