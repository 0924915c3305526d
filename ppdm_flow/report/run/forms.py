"""A judged release as text, as a page, and as documents."""

from __future__ import annotations

from ppdm_flow.core.visible import json_text
from ppdm_flow.report.check.markdown import LIMIT
from ppdm_flow.report.run import html as page
from ppdm_flow.report.run import markdown, summary
from ppdm_flow.report.run.judgement import Judgement


def text(judged: Judgement) -> str:
    """Return verdict and checks for a terminal."""
    return summary.render(judged.document, judged.width, judged.words) + judged.last


def as_json(judged: Judgement) -> str:
    """Return the report document."""
    return json_text(judged.document)


def html(judged: Judgement) -> str:
    """Return the whole report as one page."""
    return page.render(judged.document)


def md(judged: Judgement) -> str:
    """Return the whole report as Markdown."""
    return markdown.render(judged.document)


def comment(judged: Judgement) -> str:
    """Return the report as Markdown that is short enough for a comment on a pull request."""
    return markdown.render(judged.document, LIMIT)
