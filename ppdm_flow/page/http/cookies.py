"""The cookies of the page: a browser sends them to this server alone, and no script reads them."""

from __future__ import annotations

from urllib.parse import quote, unquote

from starlette.requests import Request
from starlette.responses import Response

from ppdm_flow.page.services.accounts.sessions import Visit

VISIT = "ppdm_flow_visit"
"""Which visit a request belongs to; gone when the browser is closed."""
BROWSER = "ppdm_flow_browser"
"""That somebody has signed in here before: it signs nobody in."""
ASKED = "ppdm_flow_asked"
"""The released table whose link somebody followed before they signed in."""
_RELEASED = "/released/"
_MINUTES = 30 * 60
_MONTHS = 180 * 24 * 60 * 60
_LONGEST = 300
"""Characters of an address that is kept: browsers keep cookies of 4 KB, and a character may take nine bytes."""


def cookie_name(name: str, *, secure: bool) -> str:
    """Return how a cookie is called. ``__Host-``: no other host of the same domain can set it (RFC 6265bis, 4.1.3)."""
    return f"__Host-{name}" if secure else name


def word(request: Request, name: str, *, secure: bool) -> str:
    """Return what a browser sends in a cookie; empty where it sends none.

    Our words need no quotes. ``request.cookies`` would unquote every cookie, in time quadratic in its backslashes.
    """
    wanted, sent = cookie_name(name, secure=secure), ""
    for header in request.headers.getlist("cookie"):
        for cookie in header.split(";"):
            key, _, value = cookie.partition("=")
            if key.strip() == wanted:
                sent = value.strip()
    return sent


def keep(response: Response, visit: Visit, *, secure: bool) -> None:
    """Have the browser keep the cookie of a visit until it is closed."""
    _set(response, VISIT, visit.word, None, secure=secure)


def remember(response: Response, browser: str, *, secure: bool) -> None:
    """Have the browser keep the word by which it is known after somebody has signed in."""
    _set(response, BROWSER, browser, _MONTHS, secure=secure)


def keep_asked(response: Response, path: str, *, secure: bool) -> None:
    """Have the browser keep that somebody who is not signed in asked for a released table; of other pages nothing."""
    if path.startswith(_RELEASED) and len(path) <= _LONGEST:
        _set(response, ASKED, quote(path, safe=""), _MINUTES, secure=secure)


def asked_before(request: Request, *, secure: bool) -> str:
    """Return the address of the released table that was asked for before signing in; empty where none was."""
    path = unquote(word(request, ASKED, secure=secure)[: 9 * _LONGEST])
    return quote(path) if path.startswith(_RELEASED) and len(path) <= _LONGEST else ""


def forget_asked(response: Response, *, secure: bool) -> None:
    """Have the browser drop what was asked for."""
    response.delete_cookie(cookie_name(ASKED, secure=secure), path="/", secure=secure, httponly=True, samesite="lax")


def forget(response: Response, *, secure: bool) -> None:
    """Have the browser drop the cookie of its visit."""
    response.delete_cookie(cookie_name(VISIT, secure=secure), path="/", secure=secure, httponly=True, samesite="lax")


def _set(response: Response, name: str, value: str, seconds: int | None, *, secure: bool) -> None:
    response.set_cookie(
        cookie_name(name, secure=secure), value, max_age=seconds, httponly=True, samesite="lax", secure=secure, path="/"
    )
