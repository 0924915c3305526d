"""The data sheet as one HTML file that needs nothing else: no network, no script."""

from __future__ import annotations

from ppdm_flow.report.datasheet import texts
from ppdm_flow.report.datasheet.sheet import Sheet
from ppdm_flow.report.run.html import environment

_TEMPLATE = "datasheet.html.jinja"


def render(sheet: Sheet) -> str:
    """Return the page of a sheet; the same sheet gives the same text."""
    template = environment().get_template(_TEMPLATE)
    return template.render(sheet=sheet, texts=texts, intro=texts.named(texts.INTRO, sheet))
