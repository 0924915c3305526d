"""What a check of policies found for a terminal and for programs, from the value that all forms share."""

from __future__ import annotations

from ppdm_flow.report import diagnostics as drawing
from ppdm_flow.report.noticed import Noticed


def text(noticed: Noticed) -> str:
    """Draw each diagnostic with its line."""
    return drawing.render(noticed.diagnostics, noticed.sources, color=noticed.color)


def concise(noticed: Noticed) -> str:
    """Return a line for each diagnostic."""
    return drawing.concise(noticed.diagnostics)


def as_json(noticed: Noticed) -> str:
    """Return all diagnostics as JSON."""
    return drawing.as_json(noticed.diagnostics)
