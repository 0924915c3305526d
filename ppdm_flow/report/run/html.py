"""The report as one HTML file that needs nothing else: no network, no script or style of others."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from ppdm_flow.core.texts import visible
from ppdm_flow.pictures.svg import sheet
from ppdm_flow.plan.pictures.forms import drawing
from ppdm_flow.report.run.fields import ReportDocument
from ppdm_flow.report.run.page import page

_TEMPLATE = "report.html.jinja"
_TICKED = re.compile("`([^`]+)`")


def render(document: ReportDocument, words: tuple[str, str] | None = None) -> str:
    """Return the page of a report document; the same document gives the same text. ``words`` are as in `verdict`."""
    template = environment().get_template(_TEMPLATE)
    picture = drawing(document["plan"]) if document["plan"] else ""
    return template.render(page=page(document, words), picture=picture, script_hash=script_hash())


@cache
def environment() -> Environment:
    """Return the templates of the report's pages."""
    jinja = Environment(
        loader=PackageLoader("ppdm_flow.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    jinja.globals["picture_styles"] = Markup(sheet())  # noqa: S704 - our own style sheet
    jinja.filters["n"] = "{:g}".format
    jinja.filters["prose"] = _prose
    return jinja


def _shown(value: Any) -> Any:
    """Let nothing that is written into a page turn the writing around it."""
    if isinstance(value, Markup):
        return Markup(visible(value))  # noqa: S704 - it was markup before
    return visible(value) if isinstance(value, str) else value


def _prose(text: str) -> Markup:
    """Escape a sentence, and set what stands between backticks as code."""
    return Markup(_TICKED.sub(r"<code>\1</code>", str(escape(text))))  # noqa: S704 - escaped just before


@cache
def script_hash() -> str:
    """Return what the content security policy allows: exactly our own script, as the browser sees it."""
    module = environment().get_template("script.js.jinja").render()
    return base64.b64encode(hashlib.sha256(module.encode()).digest()).decode()
