"""What a check of policies found for a terminal and for programs, from the value that all forms share."""

from __future__ import annotations

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.report import diagnostics as drawing
from ppdm_flow.report import snippet
from ppdm_flow.report.check.result import CheckResult


def text(result: CheckResult) -> str:
    """Draw each diagnostic with its line; those that are waived have a line each at the end."""
    drawn = drawing.render(_open(result), result.sources, color=result.color)
    waived = _waived(result)
    return f"{drawn}\n{waived}" if drawn and waived else drawn or waived


def concise(result: CheckResult) -> str:
    """Return a line for each diagnostic."""
    return drawing.concise(_open(result)) + _waived(result)


def as_json(result: CheckResult) -> str:
    """Return all diagnostics as JSON."""
    return drawing.as_json(result.diagnostics, {d: w.name for d, w in result.waived.items()})


def _open(result: CheckResult) -> list[Diagnostic]:
    return [d for d in result.diagnostics if d not in result.waived]


def _waived(result: CheckResult) -> str:
    lines = []
    for each, waiver in result.waived.items():
        place = f"{each.span.file}:{each.span.line}: " if each.span else ""
        terms = f"waived by `{waiver.name}` until {waiver.until}, {waiver.owner} answers for it: {waiver.reason}"
        lines.append(snippet.printable(f"{place}{each.code} {terms}"))
    return "".join(f"{line}\n" for line in lines)
