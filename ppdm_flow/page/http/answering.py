"""From a route to what the server calls: who asks, whether they may, their form, the journal."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, RedirectResponse, Response, StreamingResponse

from ppdm_flow.core.errors import PpdmError
from ppdm_flow.page.http import cookies
from ppdm_flow.page.http.call import Call
from ppdm_flow.page.http.multipart import TOKEN, ForgedError
from ppdm_flow.page.http.origin import from_own_page
from ppdm_flow.page.http.receiving import ReceivedRequest, check_fields, most_bytes, sent_with_file, sent_without_file
from ppdm_flow.page.http.route import PageRoute
from ppdm_flow.page.http.turns import (
    AT_ONCE,
    PIECE,
    STREAMS,
    STREAMS_WAITING,
    ResponseInTurn,
    busy,
    turn,
    turn_of_address,
)
from ppdm_flow.page.services.accounts.attempts import neighbourhood, network
from ppdm_flow.page.services.accounts.passwords import HASHES_AT_ONCE
from ppdm_flow.page.services.accounts.sessions import Visit
from ppdm_flow.page.services.accounts.words import new_word
from ppdm_flow.page.services.places import PERSON, BusyError, WorkPlaces
from ppdm_flow.page.services.policies.policies import UnknownPolicyError
from ppdm_flow.page.services.refusal import RefusalError
from ppdm_flow.page.site import Site

SIGN_IN = "/sign-in"
TOKEN_HEADER = "x-form-token"  # noqa: S105  # the name of a header
_log = logging.getLogger("ppdm_flow.page")
_LARGE = 4 * PIECE
"""Bytes of an answer that counts among those that are held until their clients have read them."""
_UNREAD = WorkPlaces(1 << 30, 1 << 26)
"""Bytes of large answers that are held at once, in all and for one person."""


def answering(site: Site, route: PageRoute) -> Callable[[Request], Awaitable[Response]]:
    """Return what the server calls for this route."""

    async def answer(request: Request) -> Response:
        try:
            return await _answer(site, route, request)
        except BusyError:
            return busy()
        except ClientDisconnect:
            return Response(status_code=400)  # nobody reads it

    return answer


async def _answer(site: Site, route: PageRoute, request: Request) -> Response:
    """Answer in one thread, once it is the turn of this person, or of this address of somebody who is not signed in.

    What a client has to send is received before, and takes neither. A person has one turn for hashing at most, so that
    each waits only for one hash of each other.
    """
    secure = site.settings.secure
    word = cookies.word(request, cookies.VISIT, secure=secure)
    person = f"address {network(request.client.host if request.client else '')}"
    async with turn_of_address(request.client):
        visit = await run_in_threadpool(site.sessions.visit, word or new_word())
        hashes = await run_in_threadpool(_turns_of_hashes, site, request, visit) if route.hashes else []
    if visit.user is not None:
        person = f"account {visit.user.id}"
    PERSON.set(person)
    async with AsyncExitStack() as held:
        sent: ReceivedRequest | Exception = ReceivedRequest()
        if route.access.allows(visit.user) and route.method == "POST":
            sent = await held.enter_async_context(_sent(site, route, request, visit))
        turns = [(person, AT_ONCE)]
        if route.hashes:
            turns = [(f"hash of {person}", 1), *turns, *hashes, ("hash", HASHES_AT_ONCE)]
        for name, at_once in turns:
            await held.enter_async_context(turn(name, request, at_once=at_once))
        response = await run_in_threadpool(_response, site, route, request, visit, sent)
    if not word and not _keeps_visit(response):
        cookies.keep(response, visit, secure=secure)
    sending = AsyncExitStack()
    if isinstance(response, StreamingResponse | FileResponse):  # its pieces are made while it is sent
        name = f"stream for {person}"
        await sending.enter_async_context(turn(name, request, at_once=STREAMS, waiting=STREAMS_WAITING))
    elif len(response.body) > _LARGE:
        sending.enter_context(_UNREAD.taken(0, many=len(response.body)))
    else:
        return response
    return ResponseInTurn(response, sending)


def _turns_of_hashes(site: Site, request: Request, visit: Visit) -> list[tuple[str, int]]:
    """Return the turns among which somebody's hash waits: strangers take no place of people whom the server knows."""
    if visit.user is not None:
        return []
    browser = cookies.word(request, cookies.BROWSER, secure=site.settings.secure)
    account = site.people.browsers.account_of(browser)
    if account is not None:
        return [(f"hash in a browser of account {account}", 1)]
    block = neighbourhood(request.client.host if request.client else "")
    return [(f"hash of neighbourhood {block}", 1), ("hash of strangers", max(1, HASHES_AT_ONCE - 1))]


def _keeps_visit(response: Response) -> bool:
    return any(cookies.VISIT in cookie for cookie in response.headers.getlist("set-cookie"))


def _response(
    site: Site, route: PageRoute, request: Request, visit: Visit, sent: ReceivedRequest | Exception
) -> Response:
    visit = site.sessions.visit(visit.word)  # a form may have been on its way for long, and the session has ended
    call = Call(site, request, visit, FormData())
    subject = request.path_params.get(route.subject, "") if route.subject and visit.user else ""
    if not route.access.allows(visit.user):
        if route.action:
            site.journal.add(visit.user, route.action, subject, "refused")
        return _to_sign_in(request) if visit.user is None else call.page("errors/forbidden.html", 403)
    if route.method == "GET":
        return _called(call, route)
    begun: int | None = None
    try:
        if isinstance(sent, Exception):
            raise sent  # told as one of an endpoint is
        form = sent.form()
        check_fields(form, route.long_fields)
        call = Call(site, request, visit, form, sent.arrived)
        if not visit.sent_by_own_page(request.headers.get(TOKEN_HEADER) or call.text(TOKEN)):
            raise ForgedError
        if route.action:
            begun = site.journal.begin(visit.user, route.action, subject)
    except Exception as error:  # noqa: BLE001  # the server stays up
        response = _told(call, route, error)
    else:
        response = _called(call, route)
    if not route.action:
        return response
    outcome = "done" if response.status_code < 400 else "refused" if response.status_code < 500 else "failed"
    noted = call.noted
    subject = subject if noted.subject is None else noted.subject
    site.journal.add(noted.user or visit.user, route.action, subject, outcome, begun)
    return response


def _to_sign_in(request: Request) -> Response:
    if request.headers.get("hx-request") == "true":
        return Response(headers={"hx-redirect": SIGN_IN})  # else the form would stand where a part of a page was
    return RedirectResponse(SIGN_IN, 303)


@asynccontextmanager
async def _sent(
    site: Site, route: PageRoute, request: Request, visit: Visit
) -> AsyncIterator[ReceivedRequest | Exception]:
    """Give the form of a request, or why there is none."""
    outcome: ReceivedRequest | Exception
    async with AsyncExitStack() as files:
        try:
            if not from_own_page(request, secure=site.settings.secure):
                raise ForgedError
            outcome = await files.enter_async_context(_form(site, route, request, visit))
        except BusyError:
            raise
        except Exception as error:  # noqa: BLE001  # told as one of an endpoint is
            outcome = error
        yield outcome


def _form(site: Site, route: PageRoute, request: Request, visit: Visit) -> AbstractAsyncContextManager[ReceivedRequest]:
    if not (route.takes_file and visit.user):
        return sent_without_file(request, most_bytes(site.settings, route, visit.user))

    def is_own(token: str) -> bool:
        return visit.sent_by_own_page(request.headers.get(TOKEN_HEADER) or token)

    return sent_with_file(request, site.uploads, visit.user, is_own)


def _called(call: Call, route: PageRoute) -> Response:
    try:
        return route.endpoint(call)
    except Exception as error:  # noqa: BLE001  # the server stays up
        return _told(call, route, error)


def _told(call: Call, route: PageRoute, error: Exception) -> Response:
    """Answer with what went wrong, and nothing of the text of an error that nobody expects."""
    if isinstance(error, PpdmError):
        status = 500 if error.exit_status == 3 else 400
        try:
            return call.page("errors/diagnostics.html", status, diagnostics=error.diagnostics)
        except RefusalError as too_long:
            error = too_long
    if isinstance(error, RefusalError):
        return call.page("errors/refused.html", error.status, key=error.key, words=error.words)
    if isinstance(error, ForgedError):
        return call.page("errors/forged.html", 403)
    if isinstance(error, UnknownPolicyError):  # somebody has renamed or removed it since the endpoint began
        error = HTTPException(404)
    if isinstance(error, ClientDisconnect):
        return Response(status_code=400)  # nobody reads it
    if isinstance(error, HTTPException):
        known = {403: "forbidden", 404: "missing", 413: "large"}.get(error.status_code, "missing")
        return call.page(f"errors/{known}.html", error.status_code)
    _log.error("%s failed with %s", route.path, type(error).__name__)
    return call.page("errors/failed.html", 500)
