"""One's own account: roles, password, sessions."""

from __future__ import annotations

import math

from starlette.responses import Response

from ppdm_flow.page.http.access import SIGNED_IN
from ppdm_flow.page.http.call import Call
from ppdm_flow.page.http.route import changes, reads
from ppdm_flow.page.services.accounts.identities import LastIdentityError
from ppdm_flow.page.services.accounts.passwords import LEAST_LENGTH, weakness
from ppdm_flow.page.views.accounts.administration import unlink_sent
from ppdm_flow.page.views.accounts.entering import entered


def own_account(call: Call) -> Response:
    """Show the account of who is signed in."""
    return _page(call)


def change_password(call: Call) -> Response:
    """Change one's own password; other sessions end, and this one goes on under a new word."""
    attempt = call.site.people.sign_in.confirm(call.user, call.text("old_password"))
    if attempt.match is None:
        return _page(call, "accounts.wait" if attempt.wait else "accounts.password_wrong", math.ceil(attempt.wait))
    password = call.text("password")
    wrong = weakness(password, call.user.name)
    if not wrong and password != call.text("password_again"):
        wrong = "accounts.password_differs"
    if wrong:
        return _page(call, wrong)
    changed = call.site.accounts.change_password(attempt.match, password)
    if changed is None:
        return _page(call, "accounts.password_wrong")
    return entered(call, changed.user, "/account", "accounts.password_changed", changed.holds)


def end_other_sessions(call: Call) -> Response:
    """End all sessions of the account but this one."""
    call.site.sessions.end_all(call.user.id, but=call.visit)
    return call.go("/account", "accounts.sessions_ended")


def unlink(call: Call) -> Response:
    """Let an identity sign in no more; other sessions end, for they may have been begun with it."""
    try:
        unlink_sent(call, call.user.id, keep_last=True)
    except LastIdentityError:
        return _page(call, unlinked_wrong="accounts.last_identity")
    return call.go("/account", "accounts.unlinked")


def _page(call: Call, wrong: str = "", wait: int = 0, unlinked_wrong: str = "") -> Response:
    return call.page(
        "accounts/own.html",
        429 if wait else 400 if wrong or unlinked_wrong else 200,
        account=call.site.accounts.account(call.user.id),
        identities=call.site.people.identities.of(call.user.id),
        sessions_open=call.site.sessions.many(call.user.id),
        renewals=call.site.journal.renewals(call.user),
        unlinked_wrong=unlinked_wrong,
        wrong=wrong,
        wait=wait,
        least=LEAST_LENGTH,
    )


ROUTES = (
    reads("/account", own_account, SIGNED_IN),
    changes("/account/password", change_password, SIGNED_IN, "accounts.change_password", hashes=True),
    changes("/account/unlink", unlink, SIGNED_IN, "accounts.unlink_own"),
    changes("/account/sessions", end_other_sessions, SIGNED_IN, "accounts.end_own_sessions"),
)
