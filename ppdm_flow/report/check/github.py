"""What a check of policies says on GitHub: annotations, and the summary of the step."""

from __future__ import annotations

from ppdm_flow.report.annotation import annotated, commands
from ppdm_flow.report.check import markdown as noticed_markdown
from ppdm_flow.report.check.noticed import Noticed


def render(noticed: Noticed) -> str:
    """Return workflow commands for what is not waived; an empty text where nothing was found."""
    shown = [d for d in noticed.diagnostics if d not in noticed.waived]
    return commands(annotated(d, noticed.places, noticed.file_of(d)) for d in shown)


def summary(noticed: Noticed, limit: int) -> str:
    """Return Markdown of at most ``limit`` bytes."""
    return noticed_markdown.render(noticed, limit)
