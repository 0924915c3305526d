"""The accounts of all, for administrators: invite, roles, lock, sessions, new links."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.responses import Response

from ppdm_flow.page.http.access import ADMINISTRATORS
from ppdm_flow.page.http.call import Call
from ppdm_flow.page.http.route import changes, reads
from ppdm_flow.page.services.accounts.accounts import LastAdministratorError, PageAccount
from ppdm_flow.page.services.accounts.identities import Identity
from ppdm_flow.page.services.accounts.links import INVITATION_SECONDS
from ppdm_flow.page.services.accounts.names import NameTakenError, may_be_name, normal
from ppdm_flow.page.services.accounts.roles import PageRole, User

_DAY = 24 * 60 * 60


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


def unlink(call: Call) -> Response:
    """Let an identity sign in to an account no more, and end its sessions."""
    changed = _named(call)
    try:
        unlink_sent(call, changed.user.id)
    except LastAdministratorError:
        return _one(call, changed, "accounts.last_administrator")
    return _back(call, changed, "accounts.unlinked")


def unlink_sent(call: Call, account: int, *, keep_last: bool = False) -> None:
    """Unlink the identity that a form names. Raises HTTPException 404, LastIdentityError, LastAdministratorError."""
    identity = Identity(call.text("issuer"), call.text("subject"))
    try:
        call.site.people.identities.unlink(identity, account, session=call.visit.word, keep_last=keep_last)
    except LookupError:
        raise HTTPException(404) from None


def renew(call: Call) -> Response:
    """Show a new one-time link of an account: its password is the old one until somebody uses that."""
    changed = _named(call)
    if changed.locked:
        return _one(call, changed, "accounts.unlock_first")
    return _link(call, changed.user, call.site.people.links.renew(changed.user.id))


def _named(call: Call) -> PageAccount:
    text = call.path["account"]
    found = call.site.accounts.account(int(text)) if text.isascii() and text.isdigit() and len(text) < 10 else None
    if found is None:
        raise HTTPException(404)
    call.noted.subject = found.user.name
    return found


def _other(call: Call) -> PageAccount:
    """Return the account of the address. Raises HTTPException 403 for one's own: another administrator has to agree."""
    found = _named(call)
    if found.user.id == call.user.id:
        raise HTTPException(403)
    return found


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
    scheme = "https" if call.site.settings.secure else call.request.url.scheme
    address = f"{scheme}://{call.request.url.netloc}/open/{word}"
    return call.page(
        "accounts/link.html",
        account=user,
        address=address,
        days=int(INVITATION_SECONDS // _DAY),
        identities=call.site.people.identities.of(user.id),
    )


ROUTES = (
    reads("/accounts", accounts, ADMINISTRATORS),
    changes("/accounts", invite, ADMINISTRATORS, "accounts.invite"),
    reads("/accounts/{account}", account, ADMINISTRATORS),
    changes("/accounts/{account}/roles", set_roles, ADMINISTRATORS, "accounts.set_roles", "account"),
    changes("/accounts/{account}/lock", lock, ADMINISTRATORS, "accounts.lock", "account"),
    changes("/accounts/{account}/unlock", unlock, ADMINISTRATORS, "accounts.unlock", "account"),
    changes("/accounts/{account}/sessions", end_sessions, ADMINISTRATORS, "accounts.end_sessions", "account"),
    changes("/accounts/{account}/unlink", unlink, ADMINISTRATORS, "accounts.unlink", "account"),
    changes("/accounts/{account}/link", renew, ADMINISTRATORS, "accounts.renew", "account"),
)
