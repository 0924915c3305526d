"""Signing in and out."""

from __future__ import annotations

import math
from collections.abc import Callable
from sqlite3 import Connection

from starlette.responses import Response

from ppdm_flow.page.http import cookies
from ppdm_flow.page.http.access import PUBLIC, SIGNED_IN
from ppdm_flow.page.http.call import Call
from ppdm_flow.page.http.route import changes, reads
from ppdm_flow.page.services.accounts.roles import User


def sign_in_form(call: Call) -> Response:
    """Show the form for name and password."""
    return call.page("accounts/sign_in.html", wrong="", wait=0, openid=call.site.openid)


def sign_in(call: Call) -> Response:
    """Sign somebody in, under a new session."""
    name = call.text("name")
    browser = cookies.word(call.request, cookies.BROWSER, secure=call.site.settings.secure)
    attempt = call.site.people.sign_in.attempt(name, call.text("password"), client(call), browser)
    if attempt.match is None:
        known = call.site.accounts.named(name)
        call.noted.subject = "" if known is None else known.name
        wait = math.ceil(attempt.wait)
        response = call.page(
            "accounts/sign_in.html",
            429 if wait else 401,
            wrong="accounts.wait" if wait else "accounts.wrong",
            wait=wait,
            openid=call.site.openid,
        )
        if wait:
            response.headers["retry-after"] = str(wait)
        return response
    return entered(call, attempt.match.user, holds=attempt.match.holds)


def entered(
    call: Call,
    user: User,
    address: str = "/",
    said: str = "",
    holds: Callable[[Connection], bool] = lambda _: True,
) -> Response:
    """Answer by a new session for somebody who has shown who they are. Raises RefusalError as `Sessions.begin`."""
    secure = call.site.settings.secure
    call.noted.subject = user.name
    visit = call.site.sessions.begin(user, holds)
    call.noted.user = user
    call.site.sessions.end(call.visit)
    response = call.go(address, said)
    cookies.keep(response, visit, secure=secure)
    known = call.site.people.browsers.remember(user, cookies.word(call.request, cookies.BROWSER, secure=secure))
    cookies.remember(response, known, secure=secure)
    return response


def client(call: Call) -> str:
    """Return the address that a request comes from."""
    return "" if call.request.client is None else call.request.client.host


def sign_out(call: Call) -> Response:
    """End the session."""
    call.site.sessions.end(call.visit)
    response = call.go("/sign-in", "accounts.signed_out")
    cookies.forget(response, secure=call.site.settings.secure)
    return response


ROUTES = (
    reads("/sign-in", sign_in_form, PUBLIC),
    changes("/sign-in", sign_in, PUBLIC, "accounts.sign_in", hashes=True),
    changes("/sign-out", sign_out, SIGNED_IN, "accounts.sign_out"),
)
