"""A check of policies for CI systems: annotations and a summary on GitHub, code quality on GitLab, JUnit XML."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ppdm_flow.core.diagnostics import Diagnostic, Severity
from ppdm_flow.core.texts.visible import json_text
from ppdm_flow.report import diagnostics as drawing
from ppdm_flow.report import junit
from ppdm_flow.report.annotation import annotated, commands
from ppdm_flow.report.check import markdown as check_markdown
from ppdm_flow.report.check.result import CheckResult
from ppdm_flow.report.junit import JUnitCase, JUnitOutcome, Suite
from ppdm_flow.report.snippet import printable


def render(result: CheckResult) -> str:
    """Return workflow commands for what is not waived; an empty text where nothing was found."""
    shown = [d for d in result.diagnostics if d not in result.waived]
    return commands(annotated(d, result.places, result.file_of(d)) for d in shown)


def summary(result: CheckResult, limit: int) -> str:
    """Return Markdown of at most ``limit`` bytes."""
    return check_markdown.render(result, limit)


_SEVERITY = {Severity.ERROR: "critical", Severity.WARNING: "minor", Severity.INFO: "info"}


def gitlab(result: CheckResult) -> str:
    """Return the report; waived findings are not in it, since it has no word for them."""
    issues = [_issue(result, each, mark) for each, mark in result.fingerprints() if each not in result.waived]
    return json_text(issues)


def _issue(result: CheckResult, each: Diagnostic, mark: str) -> dict[str, Any]:
    hint = f" ({each.hint})" if each.hint else ""
    return {
        "description": printable(f"{each.code}: {each.message}{hint}"),
        "check_name": each.code,
        "fingerprint": mark,
        "severity": _SEVERITY[each.severity],
        "location": {
            "path": result.places.shown(result.file_of(each)),
            "lines": {"begin": each.span.line if each.span else 1},
        },
    }


def junit_xml(result: CheckResult) -> str:
    """Return one suite; a policy fails by what makes the check fail."""
    cases = [_case(result, name, diagnostics) for name, diagnostics in result.files.items()]
    return junit.render([Suite("ppdm-flow check", cases)])


def _case(result: CheckResult, name: str, diagnostics: Sequence[Diagnostic]) -> JUnitCase:
    file = result.places.shown(name)
    failing = [d for d in diagnostics if result.fails(d)]
    text = drawing.concise(d for d in diagnostics if d not in result.waived)
    if not failing:
        return JUnitCase("ppdm-flow.check", file, text=text, file=file)
    first = failing[0]
    message = f"{drawing.summary(failing)}: {first.message}"
    line = first.span.line if first.span and first.span.file == name else None
    return JUnitCase("ppdm-flow.check", file, JUnitOutcome.FAILED, message, text, first.code, file=file, line=line)
