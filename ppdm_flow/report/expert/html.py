"""A determination as one HTML page that needs nothing else, with boxes that nobody has ticked."""

from __future__ import annotations

from ppdm_flow.report.expert.chapters import PREAMBLE, TITLE, determination
from ppdm_flow.report.run.fields import ReportDocument
from ppdm_flow.report.run.html import environment


def render(document: ReportDocument) -> str:
    """Return the page; the same document gives the same text."""
    template = environment().get_template("expert.html.jinja")
    return template.render(whole=determination(document), title=TITLE, preamble=PREAMBLE)
