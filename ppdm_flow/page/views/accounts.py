"""Signing in and out, one's own account, and the accounts of all."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from sqlite3 import Connection
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from ppdm_flow.page.http import cookies
from ppdm_flow.page.http.call import Call
from ppdm_flow.page.http.route import ADMINISTRATORS, PUBLIC, SIGNED_IN, changes, reads
from ppdm_flow.page.services.accounts.accounts import (
    LastAdministratorError,
    NameTakenError,
    PageAccount,
    may_be_name,
    normal,
)
from ppdm_flow.page.services.accounts.links import (
    INVITATION_SECONDS,
    AccountLink,
    Identity,
    IdentityTakenError,
    LastIdentityError,
    LinkGoneError,
    is_linked,
)
from ppdm_flow.page.services.accounts.passwords import LEAST_LENGTH, weakness
from ppdm_flow.page.services.accounts.roles import PageRole, User
from ppdm_flow.page.services.openid.configuration import BACK, FlowRefusedError, ProviderError, TokenRefusedError

if TYPE_CHECKING:
    from ppdm_flow.page.services.openid.open_id import OpenId

# Signing in and out.


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


def sign_out(call: Call) -> Response:
    """End the session."""
    call.site.sessions.end(call.visit)
    response = call.go("/sign-in", "accounts.signed_out")
    cookies.forget(response, secure=call.site.settings.secure)
    return response


ENTERING_ROUTES = (
    reads("/sign-in", sign_in_form, PUBLIC),
    changes("/sign-in", sign_in, PUBLIC, "accounts.sign_in", hashes=True),
    changes("/sign-out", sign_out, SIGNED_IN, "accounts.sign_out"),
)


# One-time links: the first administrator, invitations, new passwords. Looking at one does not use it.


ADDRESS = "/open/{word}"


def form(call: Call) -> Response:
    """Show what a link opens, with a form for the password, and for the name where there is none yet."""
    try:
        return _form(call, call.site.people.links.find(call.path["word"]))
    except LinkGoneError:
        return _answer_gone_link(call)


def open_account(call: Call) -> Response:
    """Use a link: set the password, and sign in."""
    links = call.site.people.links
    try:
        link = links.find(call.path["word"])
        name = normal(call.text("name")) if link.user is None else link.user.name
        password = call.text("password")
        wrong = None if may_be_name(name) else "accounts.name_odd"
        wrong = wrong or weakness(password, name)
        if not wrong and password != call.text("password_again"):
            wrong = "accounts.password_differs"
        if wrong:
            return _form(call, link, wrong, name)
        if link.user is None:
            user = links.open_administrator(call.path["word"], name, password)
        else:
            user = links.open_with_password(call.path["word"], password)
    except LinkGoneError:
        return _answer_gone_link(call)
    except NameTakenError:
        return _form(call, link, "accounts.name_taken", name)
    return entered(call, user, said="accounts.opened")


OPENING_ROUTES = (
    reads(ADDRESS, form, PUBLIC),
    changes(ADDRESS, open_account, PUBLIC, "accounts.open", hashes=True),
)


# One's own account: roles, password, sessions.


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


OWN_ROUTES = (
    reads("/account", own_account, SIGNED_IN),
    changes("/account/password", change_password, SIGNED_IN, "accounts.change_password", hashes=True),
    changes("/account/unlink", unlink, SIGNED_IN, "accounts.unlink_own"),
    changes("/account/sessions", end_other_sessions, SIGNED_IN, "accounts.end_own_sessions"),
)


# The accounts of all, for administrators: invite, roles, lock, sessions, new links.


def accounts(call: Call) -> Response:
    """List all accounts, with the form that invites somebody."""
    return _list(call)


def invite(call: Call) -> Response:
    """Make an account, and show the link with which somebody opens it: once, for nobody keeps it."""
    name, roles = normal(call.text("name")), _roles(call)
    if not may_be_name(name):
        return _list(call, "accounts.name_odd", name, roles)
    if not roles:
        return _list(call, "accounts.no_role", name, roles)
    try:
        user, word = call.site.people.links.invite(name, roles)
    except NameTakenError:
        return _list(call, "accounts.name_taken", name, roles)
    return _link(call, user, word)


def account(call: Call) -> Response:
    """Show one account."""
    return _one(call, _named(call))


def set_roles(call: Call) -> Response:
    """Give an account the roles that the form has, and take the others."""
    changed, roles = _other(call), _roles(call)
    if not roles:
        return _one(call, changed, "accounts.no_role")
    try:
        call.site.accounts.set_roles(changed.user.id, roles)
    except LastAdministratorError:
        return _one(call, changed, "accounts.last_administrator")
    return _back(call, changed, "accounts.roles_changed")


def lock(call: Call) -> Response:
    """Lock an account: its sessions and links end, and nobody signs in to it."""
    changed = _other(call)
    try:
        call.site.accounts.lock(changed.user.id)
    except LastAdministratorError:
        return _one(call, changed, "accounts.last_administrator")
    return _back(call, changed, "accounts.was_locked")


def unlock(call: Call) -> Response:
    """Let somebody sign in to an account again."""
    changed = _other(call)
    call.site.accounts.unlock(changed.user.id)
    return _back(call, changed, "accounts.was_unlocked")


def end_sessions(call: Call) -> Response:
    """End all sessions of an account."""
    changed = _named(call)
    call.site.sessions.end_all(changed.user.id, but=call.visit)
    return _back(call, changed, "accounts.sessions_ended")


def unlink_account(call: Call) -> Response:
    """Let an identity sign in to an account no more, and end its sessions."""
    changed = _named(call)
    try:
        unlink_sent(call, changed.user.id)
    except LastAdministratorError:
        return _one(call, changed, "accounts.last_administrator")
    return _back(call, changed, "accounts.unlinked")


def renew(call: Call) -> Response:
    """Show a new one-time link of an account: its password is the old one until somebody uses that."""
    changed = _named(call)
    if changed.locked:
        return _one(call, changed, "accounts.unlock_first")
    return _link(call, changed.user, call.site.people.links.renew(changed.user.id))


ADMINISTRATION_ROUTES = (
    reads("/accounts", accounts, ADMINISTRATORS),
    changes("/accounts", invite, ADMINISTRATORS, "accounts.invite"),
    reads("/accounts/{account}", account, ADMINISTRATORS),
    changes("/accounts/{account}/roles", set_roles, ADMINISTRATORS, "accounts.set_roles", "account"),
    changes("/accounts/{account}/lock", lock, ADMINISTRATORS, "accounts.lock", "account"),
    changes("/accounts/{account}/unlock", unlock, ADMINISTRATORS, "accounts.unlock", "account"),
    changes("/accounts/{account}/sessions", end_sessions, ADMINISTRATORS, "accounts.end_sessions", "account"),
    changes("/accounts/{account}/unlink", unlink_account, ADMINISTRATORS, "accounts.unlink", "account"),
    changes("/accounts/{account}/link", renew, ADMINISTRATORS, "accounts.renew", "account"),
)


# Signing in by OpenID Connect: there and back. The way back is a GET; what it must bring is checked by the service.
#
# An identity is linked to the account of a one-time link by a form, which names both: another site can send a browser
# to the provider and back, and the page then only asks.


def there(call: Call) -> Response:
    """Send the browser to the provider."""
    try:
        return RedirectResponse(_openid(call).begin(call.visit.word, call.query.get("link", "")), 303)
    except ProviderError:
        return _refused(call, "accounts.openid_unreachable", 502)


def back(call: Call) -> Response:
    """Sign in the person whom the provider names, or ask whether to link the identity to the account of a link."""
    openid, address = _openid(call), client(call)
    try:
        flow = openid.take(call.visit.word, call.query.get("state", ""))
        wait = math.ceil(call.site.people.sign_in.wait_at(address))
        if wait:
            return _refused(call, "accounts.wait", 429, wait)
        if "error" in call.query or not call.query.get("code"):
            return _refused(call, "accounts.openid_declined", 403)
        identity = openid.identity(flow, call.query["code"])
        if flow.link:
            link = call.site.people.links.find_hash(flow.link)
            call.site.people.sign_in.succeeded_at(address)
            proof, label = flow.proof(identity.subject), openid.label
            return call.page("accounts/openid_link.html", link=link, identity=identity, proof=proof, provider=label)
        user = call.site.people.identities.user(identity)
    except (FlowRefusedError, TokenRefusedError):
        return _refused(call, "accounts.openid_refused", 403)
    except ProviderError:
        return _refused(call, "accounts.openid_unreachable", 502)
    except LinkGoneError:
        return call.page("accounts/link_gone.html", 404)
    if user is None:
        return _refused(call, "accounts.openid_unknown", 403)
    call.site.people.sign_in.succeeded_at(address)
    response = entered(call, user, holds=partial(is_linked, identity, user.id))
    call.site.journal.add(user, ACTION, user.name, "done")
    return response


def link_identity(call: Call) -> Response:
    """Make the identity that the provider has just signed in here the way into the account of a one-time link."""
    try:
        identity, link_hash = _openid(call).proven(call.visit.word, call.text("proof"))
        user = call.site.people.links.open_with_identity(link_hash, identity)
    except FlowRefusedError:
        return call.page("accounts/openid_refused.html", 403, why="accounts.openid_refused", wait=0)
    except LinkGoneError:
        return call.page("accounts/link_gone.html", 404)
    except IdentityTakenError:
        return call.page("accounts/openid_refused.html", 403, why="accounts.openid_taken", wait=0)
    return entered(call, user, said="accounts.opened")


PROVIDERS_ROUTES = (
    reads("/sign-in/openid", there, PUBLIC),
    reads(BACK, back, PUBLIC),
    changes("/sign-in/openid/link", link_identity, PUBLIC, "accounts.link_identity", long_fields={"proof": 2_000}),
)

ROUTES = (*ENTERING_ROUTES, *OPENING_ROUTES, *OWN_ROUTES, *ADMINISTRATION_ROUTES, *PROVIDERS_ROUTES)


def entered(
    call: Call,
    user: User,
    address: str = "",
    said: str = "",
    holds: Callable[[Connection], bool] = lambda _: True,
) -> Response:
    """Answer by a new session for somebody who has shown who they are, at the released table that they asked for.

    Raises RefusalError as `Sessions.begin`.
    """
    secure = call.site.settings.secure
    call.noted.subject = user.name
    visit = call.site.sessions.begin(user, holds)
    call.noted.user = user
    call.site.sessions.end(call.visit)
    asked = cookies.asked_before(call.request, secure=secure)
    response = call.go(address or asked or "/", said)
    if asked:
        cookies.forget_asked(response, secure=secure)
    cookies.keep(response, visit, secure=secure)
    known = call.site.people.browsers.remember(user, cookies.word(call.request, cookies.BROWSER, secure=secure))
    cookies.remember(response, known, secure=secure)
    return response


def client(call: Call) -> str:
    """Return the address that a request comes from."""
    return "" if call.request.client is None else call.request.client.host


def _form(call: Call, link: AccountLink, wrong: str = "", name: str = "") -> Response:
    return call.page(
        "accounts/open.html",
        400 if wrong else 200,
        link=link,
        wrong=wrong,
        name=name,
        word=call.path["word"],
        least=LEAST_LENGTH,
        openid=call.site.openid,
    )


def _answer_gone_link(call: Call) -> Response:
    return call.page("accounts/link_gone.html", 404)


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


_DAY = 24 * 60 * 60


def unlink_sent(call: Call, account: int, *, keep_last: bool = False) -> None:
    """Unlink the identity that a form names. Raises HTTPException 404, LastIdentityError, LastAdministratorError."""
    identity = Identity(call.text("issuer"), call.text("subject"))
    try:
        call.site.people.identities.unlink(identity, account, session=call.visit.word, keep_last=keep_last)
    except LookupError:
        raise HTTPException(404) from None


def _named(call: Call) -> PageAccount:
    text = call.path["account"]
    page_account = (
        call.site.accounts.account(int(text)) if text.isascii() and text.isdigit() and len(text) < 10 else None
    )
    if page_account is None:
        raise HTTPException(404)
    call.noted.subject = page_account.user.name
    return page_account


def _other(call: Call) -> PageAccount:
    """Return the account of the address. Raises HTTPException 403 for one's own: another administrator has to agree."""
    page_account = _named(call)
    if page_account.user.id == call.user.id:
        raise HTTPException(403)
    return page_account


def _roles(call: Call) -> list[PageRole]:
    chosen = set(call.texts("role"))
    return [role for role in PageRole if role.value in chosen]


def _list(call: Call, wrong: str = "", name: str = "", roles: list[PageRole] | None = None) -> Response:
    return call.page(
        "accounts/list.html",
        400 if wrong else 200,
        accounts=call.site.accounts.every(),
        every_role=list(PageRole),
        wrong=wrong,
        name=name,
        roles=roles or [],
    )


def _one(call: Call, shown: PageAccount, wrong: str = "") -> Response:
    return call.page(
        "accounts/one.html",
        400 if wrong else 200,
        account=shown,
        own=shown.user.id == call.user.id,
        every_role=list(PageRole),
        identities=call.site.people.identities.of(shown.user.id),
        sessions_open=call.site.sessions.many(shown.user.id),
        wrong=wrong,
    )


def _back(call: Call, changed: PageAccount, said: str) -> Response:
    return call.go(f"/accounts/{changed.user.id}", said)


def _link(call: Call, user: User, word: str) -> Response:
    call.noted.subject = user.name
    return call.page(
        "accounts/link.html",
        account=user,
        address=f"{call.origin}/open/{word}",
        days=int(INVITATION_SECONDS // _DAY),
        identities=call.site.people.identities.of(user.id),
    )


ACTION = "accounts.sign_in_openid"


def _refused(call: Call, why: str, status: int, wait: int = 0) -> Response:
    call.site.journal.add(call.visit.user, ACTION, "", "refused")
    return call.page("accounts/openid_refused.html", status, why=why, wait=wait)


def _openid(call: Call) -> OpenId:
    if call.site.openid is None:
        raise HTTPException(404)
    return call.site.openid
