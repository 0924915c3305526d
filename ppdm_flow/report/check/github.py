"""What a check of policies says on GitHub: annotations, and the summary of the step."""

from __future__ import annotations

from ppdm_flow.report.annotation import annotated, commands
from ppdm_flow.report.check import markdown as check_markdown
from ppdm_flow.report.check.result import CheckResult


def render(result: CheckResult) -> str:
    """Return workflow commands for what is not waived; an empty text where nothing was found."""
    shown = [d for d in result.diagnostics if d not in result.waived]
    return commands(annotated(d, result.places, result.file_of(d)) for d in shown)


def summary(result: CheckResult, limit: int) -> str:
    """Return Markdown of at most ``limit`` bytes."""
    return check_markdown.render(result, limit)
