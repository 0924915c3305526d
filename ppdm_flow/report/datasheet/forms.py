"""The files of a data sheet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ppdm_flow.core.results import Report
from ppdm_flow.core.texts.file_names import SHEET_HTML, SHEET_MARKDOWN
from ppdm_flow.report.datasheet import html, markdown
from ppdm_flow.report.datasheet.sheet import sheet


def datasheets(report: Report, release: str, beside: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Return the forms of the data sheet of a release, by file name; ``beside`` are the documents in its folder."""
    made = sheet(report, release, beside)
    return {SHEET_MARKDOWN: markdown.render(made), SHEET_HTML: html.render(made)}
