"""A check of policies as JUnit XML: each policy is a test case."""

from __future__ import annotations

from collections.abc import Sequence

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.report import diagnostics as drawing
from ppdm_flow.report import junit
from ppdm_flow.report.check.result import CheckResult
from ppdm_flow.report.junit import Case, Outcome, Suite


def render(result: CheckResult) -> str:
    """Return one suite; a policy fails by what makes the check fail."""
    cases = [_case(result, name, found) for name, found in result.files.items()]
    return junit.render([Suite("ppdm-flow check", cases)])


def _case(result: CheckResult, name: str, found: Sequence[Diagnostic]) -> Case:
    file = result.places.shown(name)
    failing = [d for d in found if result.fails(d)]
    text = drawing.concise(d for d in found if d not in result.waived)
    if not failing:
        return Case("ppdm-flow.check", file, text=text, file=file)
    first = failing[0]
    told = f"{drawing.summary(failing)}: {first.message}"
    line = first.span.line if first.span and first.span.file == name else None
    return Case("ppdm-flow.check", file, Outcome.FAILED, told, text, first.code, file=file, line=line)
