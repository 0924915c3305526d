"""The reference: ``/explain`` lists what has a page, ``/explain/TERM`` is one. Scripts ask for a page alone."""

from __future__ import annotations

from functools import cache

from starlette.exceptions import HTTPException
from starlette.responses import Response

from ppdm_flow import api
from ppdm_flow.core.errors import UsageError
from ppdm_flow.page.http.call import Call
from ppdm_flow.page.http.route import SIGNED_IN, reads
from ppdm_flow.page.looks.markdown import html_of, title_of

_LONGEST = 100


def list_terms(call: Call) -> Response:
    """Show everything that has a page; with ``term``, go to the page of that."""
    term = call.query.get("term", "").strip()
    if term:
        return _page(call, term)
    return call.page("explain/list.html", body=html_of(_topics(), has_page))


def explain(call: Call) -> Response:
    """Show the page of a term."""
    return _page(call, call.path["term"])


def has_page(term: str) -> bool:
    """Whether a word has a page of its own."""
    return term in _terms()


def _page(call: Call, term: str) -> Response:
    try:
        text = api.explain(term[:_LONGEST])
    except UsageError as error:
        if call.replaces_part or call.query.get("part"):
            raise HTTPException(404) from None
        return call.page("explain/unknown.html", 404, diagnostics=error.diagnostics)
    part = call.replaces_part or bool(call.query.get("part"))
    template = "explain/part.html" if part else "explain/page.html"
    return call.page(template, heading=title_of(text) or term, body=html_of(text, has_page, below=part))


@cache
def _topics() -> str:
    return api.topics()


@cache
def _terms() -> frozenset[str]:
    lines = _topics().replace(",", "\n").splitlines()
    return frozenset(line.strip().removeprefix("- ").partition("`: ")[0].strip("`") for line in lines if "`" in line)


ROUTES = (
    reads("/explain", list_terms, SIGNED_IN),
    reads("/explain/{term:path}", explain, SIGNED_IN),
)
