"""Signing in and out."""

from __future__ import annotations

from starlette.responses import Response

from ppdm_flow.page.http.access import PUBLIC, SIGNED_IN
from ppdm_flow.page.http.answering import keep
from ppdm_flow.page.http.call import Call
from ppdm_flow.page.http.route import changes, reads


def sign_in_form(call: Call) -> Response:
    """Show the form for name and password."""
    return call.page("accounts/sign_in.html")


def sign_in(call: Call) -> Response:
    """Sign somebody in, under a new session."""
    user = call.site.accounts.signed_in(call.text("name"), call.text("password"))
    if user is None:
        return call.page("accounts/sign_in.html", 401, wrong=True)
    call.site.sessions.end(call.visit)
    response = call.go("/")
    keep(response, call.site.sessions.begin(user), secure=call.site.settings.secure)
    return response


def sign_out(call: Call) -> Response:
    """End the session."""
    call.site.sessions.end(call.visit)
    return call.go("/sign-in")


ROUTES = (
    reads("/sign-in", sign_in_form, PUBLIC),
    changes("/sign-in", sign_in, PUBLIC, "accounts.sign_in"),
    changes("/sign-out", sign_out, SIGNED_IN, "accounts.sign_out"),
)
