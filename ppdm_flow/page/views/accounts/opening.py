"""One-time links: the first administrator, invitations, new passwords. Looking at one does not use it."""

from __future__ import annotations

from starlette.responses import Response

from ppdm_flow.page.http.access import PUBLIC
from ppdm_flow.page.http.call import Call
from ppdm_flow.page.http.route import changes, reads
from ppdm_flow.page.services.accounts.links import AccountLink, LinkGoneError
from ppdm_flow.page.services.accounts.names import NameTakenError, may_be_name, normal
from ppdm_flow.page.services.accounts.passwords import LEAST_LENGTH, weakness
from ppdm_flow.page.views.accounts.entering import entered

ADDRESS = "/open/{word}"


def form(call: Call) -> Response:
    """Show what a link opens, with a form for the password, and for the name where there is none yet."""
    try:
        return _form(call, call.site.people.links.find(call.path["word"]))
    except LinkGoneError:
        return _gone(call)


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
        return _gone(call)
    except NameTakenError:
        return _form(call, link, "accounts.name_taken", name)
    return entered(call, user, said="accounts.opened")


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


def _gone(call: Call) -> Response:
    return call.page("accounts/link_gone.html", 404)


ROUTES = (
    reads(ADDRESS, form, PUBLIC),
    changes(ADDRESS, open_account, PUBLIC, "accounts.open", hashes=True),
)
