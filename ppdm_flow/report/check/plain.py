"""What a check of policies found for a terminal and for programs, from the value that all forms share."""

from __future__ import annotations

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.report import diagnostics as drawing
from ppdm_flow.report import snippet
from ppdm_flow.report.check.noticed import Noticed


def text(noticed: Noticed) -> str:
    """Draw each diagnostic with its line; those that are waived have a line each at the end."""
    drawn = drawing.render(_open(noticed), noticed.sources, color=noticed.color)
    waived = _waived(noticed)
    return f"{drawn}\n{waived}" if drawn and waived else drawn or waived


def concise(noticed: Noticed) -> str:
    """Return a line for each diagnostic."""
    return drawing.concise(_open(noticed)) + _waived(noticed)


def as_json(noticed: Noticed) -> str:
    """Return all diagnostics as JSON."""
    return drawing.as_json(noticed.diagnostics, {d: w.name for d, w in noticed.waived.items()})


def _open(noticed: Noticed) -> list[Diagnostic]:
    return [d for d in noticed.diagnostics if d not in noticed.waived]


def _waived(noticed: Noticed) -> str:
    lines = []
    for each, waiver in noticed.waived.items():
        place = f"{each.span.file}:{each.span.line}: " if each.span else ""
        terms = f"waived by `{waiver.name}` until {waiver.until}, {waiver.owner} answers for it: {waiver.reason}"
        lines.append(snippet.printable(f"{place}{each.code} {terms}"))
    return "".join(f"{line}\n" for line in lines)
