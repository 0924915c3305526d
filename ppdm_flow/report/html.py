"""The report as one HTML file that needs nothing else: no network, no script or style of others."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from ppdm_flow.plan import pictures
from ppdm_flow.report.page import page


def render(document: dict[str, Any]) -> str:
    """Return the page of a report document; the same document gives the same text."""
    template = _environment().get_template("report.html.jinja")
    picture = pictures.svg(document["plan"]) if document["plan"] else ""
    return template.render(page=page(document), picture=picture, script_hash=_script_hash())


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("ppdm_flow.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["n"] = "{:g}".format
    return environment


@cache
def _script_hash() -> str:
    """Return what the content security policy allows: exactly our own script, as the browser sees it."""
    module = _environment().get_template("script.js.jinja").render()
    return base64.b64encode(hashlib.sha256(module.encode()).digest()).decode()
