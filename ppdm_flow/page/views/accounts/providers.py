"""Signing in by OpenID Connect: there and back. The way back is a GET; what it must bring is checked by the service.

An identity is linked to the account of a one-time link by a form, which names both: another site can send a browser to
the provider and back, and the page then only asks.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from ppdm_flow.page.http.access import PUBLIC
from ppdm_flow.page.http.call import Call
from ppdm_flow.page.http.route import changes, reads
from ppdm_flow.page.services.accounts.identities import is_linked
from ppdm_flow.page.services.accounts.links import IdentityTakenError, LinkGoneError
from ppdm_flow.page.services.openid.configuration import BACK
from ppdm_flow.page.services.openid.flows import FlowRefusedError
from ppdm_flow.page.services.openid.refusals import ProviderError, TokenRefusedError
from ppdm_flow.page.views.accounts.entering import client, entered

if TYPE_CHECKING:
    from ppdm_flow.page.services.openid.open_id import OpenId

ACTION = "accounts.sign_in_openid"


def there(call: Call) -> Response:
    """Send the browser to the provider."""
    try:
        return RedirectResponse(_openid(call).begin(call.visit.word, call.query.get("link", "")), 303)
    except ProviderError:
        return _refused(call, "accounts.openid_unreachable", 502)


def back(call: Call) -> Response:
    """Sign in whoever the provider says it is, or ask whether to link the identity to the account of a link."""
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


def _refused(call: Call, why: str, status: int, wait: int = 0) -> Response:
    call.site.journal.add(call.visit.user, ACTION, "", "refused")
    return call.page("accounts/openid_refused.html", status, why=why, wait=wait)


def _openid(call: Call) -> OpenId:
    if call.site.openid is None:
        raise HTTPException(404)
    return call.site.openid


ROUTES = (
    reads("/sign-in/openid", there, PUBLIC),
    reads(BACK, back, PUBLIC),
    changes("/sign-in/openid/link", link_identity, PUBLIC, "accounts.link_identity", long_fields={"proof": 2_000}),
)
