"""One's own signing key: made, brought, shown, deleted."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse, Response

from ppdm_flow.page.http.call import PASSPHRASE, Call
from ppdm_flow.page.http.route import STEWARDS_AND_APPROVERS, changes, reads
from ppdm_flow.page.services.accounts.passwords import LEAST_LENGTH
from ppdm_flow.page.services.refusal import RefusalError


def own_key(call: Call) -> Response:
    """Show one's key, or the forms that make one."""
    own = call.site.keys.of(call.user)
    if call.replaces_part:
        response: Response = call.page("keys/key.html", own=own)
        if own is None or own.state != "making":
            response.headers["hx-refresh"] = "true"
        return response
    return _page(call)


def make(call: Call) -> Response:
    """Have a key made under a passphrase that was typed twice."""
    if call.text(PASSPHRASE) != call.text("again"):
        return _page(call, 400, made="keys.not_the_same")
    try:
        call.site.keys.make(call.user, call.text(PASSPHRASE))
    except RefusalError as error:
        return _page(call, error.status, made=error.key, words=error.words)
    return call.go("/key")


def bring(call: Call) -> Response:
    """Take a key that somebody has."""
    try:
        call.site.keys.bring(call.user, call.text("key"), call.text(PASSPHRASE))
    except RefusalError as error:
        return _page(call, error.status, brought=error.key, words=error.words)
    return call.go("/key")


def delete(call: Call) -> Response:
    """Delete one's key."""
    call.site.keys.delete(call.user)
    return call.go("/key", said="keys.deleted")


def public(call: Call) -> Response:
    """Send the public part as the file that ``ppdm-flow key`` writes beside a private key."""
    own = call.site.keys.of(call.user)
    if own is None or own.public is None:
        raise HTTPException(404)
    name = {"content-disposition": 'attachment; filename="key.pub"'}
    return PlainTextResponse(f"{own.public.text}\n", headers=name)


def _page(call: Call, status: int = 200, *, made: str = "", brought: str = "", words: object = None) -> Response:
    own = call.site.keys.of(call.user)
    faults = {"made": made, "brought": brought, "words": words or {}}
    return call.page("keys/keys.html", status, own=own, least=LEAST_LENGTH, **faults)


ROUTES = (
    reads("/key", own_key, STEWARDS_AND_APPROVERS),
    reads("/key/public", public, STEWARDS_AND_APPROVERS),
    changes("/key/make", make, STEWARDS_AND_APPROVERS, "keys.make"),
    changes("/key/bring", bring, STEWARDS_AND_APPROVERS, "keys.bring", long_fields={"key": 20_000}),
    changes("/key/delete", delete, STEWARDS_AND_APPROVERS, "keys.delete"),
)
