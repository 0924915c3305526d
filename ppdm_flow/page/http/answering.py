"""From a route to what the server calls: who asks, whether they may, their form, the journal."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import partial
from weakref import WeakValueDictionary

from anyio import CapacityLimiter
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response

from ppdm_flow.core.errors import PpdmError
from ppdm_flow.page.http import cookies
from ppdm_flow.page.http.call import Call
from ppdm_flow.page.http.multipart import TOKEN, ForgedError
from ppdm_flow.page.http.origin import from_own_page
from ppdm_flow.page.http.receiving import Sent, check_fields, most_bytes, sent_with_file, sent_without_file
from ppdm_flow.page.http.route import PageRoute
from ppdm_flow.page.services.accounts.roles import User
from ppdm_flow.page.services.accounts.sessions import Visit
from ppdm_flow.page.services.accounts.words import new_word
from ppdm_flow.page.services.places import PERSON
from ppdm_flow.page.services.policies.policies import UnknownPolicyError
from ppdm_flow.page.services.refusal import RefusalError
from ppdm_flow.page.site import Site

SIGN_IN = "/sign-in"
TOKEN_HEADER = "x-form-token"  # noqa: S105  # the name of a header
_log = logging.getLogger("ppdm_flow.page")
_AT_ONCE = 6
_limiters: WeakValueDictionary[str, CapacityLimiter] = WeakValueDictionary()
"""One for each person with a request, in the one thread of the server that takes them."""


def answering(site: Site, route: PageRoute) -> Callable[[Request], Awaitable[Response]]:
    """Return what the server calls for this route."""

    async def answer(request: Request) -> Response:
        secure = site.settings.secure
        word = cookies.word(request, cookies.VISIT, secure=secure)
        visit = await run_in_threadpool(site.sessions.visit, word or new_word())
        response = await _answer(site, route, request, visit)
        if not word and not _keeps_visit(response):
            cookies.keep(response, visit, secure=secure)
        return response

    return answer


async def _in_turn(request: Request, user: User | None, work: Callable[[], Response]) -> Response:
    """Work in a thread, once fewer than so many requests of this person, or of this address of a stranger, have one."""
    person = f"account {user.id}" if user is not None else f"address {request.client.host if request.client else ''}"
    limiter = _limiters.get(person)
    if limiter is None:
        limiter = _limiters[person] = CapacityLimiter(_AT_ONCE)
    async with limiter:
        PERSON.set(person)
        return await run_in_threadpool(work)


def _keeps_visit(response: Response) -> bool:
    return any(cookies.VISIT in cookie for cookie in response.headers.getlist("set-cookie"))


async def _answer(site: Site, route: PageRoute, request: Request, visit: Visit) -> Response:
    call = Call(site, request, visit, FormData())
    subject = request.path_params.get(route.subject, "") if route.subject and visit.user else ""
    if not route.access.allows(visit.user):
        if route.action:
            await run_in_threadpool(site.journal.add, visit.user, route.action, subject, "refused")
        if visit.user is None:
            return _to_sign_in(request)
        return await run_in_threadpool(call.page, "errors/forbidden.html", 403)
    if route.method == "GET":
        return await _called(call, route)
    begun: int | None = None
    async with _sent(site, route, request, visit) as sent:
        if isinstance(sent, Exception):
            response = await _told(call, route, sent)
        else:
            call = Call(site, request, visit, sent.form, sent.arrived)
            token = request.headers.get(TOKEN_HEADER) or call.text(TOKEN)
            if visit.sent_by_own_page(token):
                try:
                    if route.action:
                        begun = await run_in_threadpool(site.journal.begin, visit.user, route.action, subject)
                    response = await _called(call, route)
                except RefusalError as error:
                    response = await _told(call, route, error)
            else:
                response = await _told(call, route, ForgedError())
    if not route.action:
        return response
    outcome = "done" if response.status_code < 400 else "refused" if response.status_code < 500 else "failed"
    noted = call.noted
    subject = subject if noted.subject is None else noted.subject
    await run_in_threadpool(site.journal.add, noted.user or visit.user, route.action, subject, outcome, begun)
    return response


def _to_sign_in(request: Request) -> Response:
    if request.headers.get("hx-request") == "true":
        return Response(headers={"hx-redirect": SIGN_IN})  # else the form would stand where a part of a page was
    return RedirectResponse(SIGN_IN, 303)


@asynccontextmanager
async def _sent(site: Site, route: PageRoute, request: Request, visit: Visit) -> AsyncIterator[Sent | Exception]:
    """Give the form of a request, or why there is none."""
    outcome: Sent | Exception
    async with AsyncExitStack() as files:
        try:
            if not from_own_page(request, secure=site.settings.secure):
                raise ForgedError
            outcome = await files.enter_async_context(_form(site, route, request, visit))
            check_fields(outcome.form, route.long_fields)
        except Exception as error:  # noqa: BLE001  # told as one of an endpoint is
            outcome = error
        yield outcome


def _form(site: Site, route: PageRoute, request: Request, visit: Visit) -> AbstractAsyncContextManager[Sent]:
    if not (route.takes_file and visit.user):
        return sent_without_file(request, most_bytes(site.settings, route, visit.user))

    def is_own(token: str) -> bool:
        return visit.sent_by_own_page(request.headers.get(TOKEN_HEADER) or token)

    return sent_with_file(request, site.uploads, visit.user, is_own)


async def _called(call: Call, route: PageRoute) -> Response:
    try:
        return await _in_turn(call.request, call.visit.user, partial(route.endpoint, call))
    except Exception as error:  # noqa: BLE001  # the server stays up
        return await _told(call, route, error)


async def _told(call: Call, route: PageRoute, error: Exception) -> Response:
    """Answer with what went wrong, and nothing of the text of an error that nobody expects."""
    if isinstance(error, PpdmError):
        status = 500 if error.exit_status == 3 else 400
        return await run_in_threadpool(call.page, "errors/diagnostics.html", status, diagnostics=error.diagnostics)
    if isinstance(error, RefusalError):
        return await run_in_threadpool(call.page, "errors/refused.html", error.status, key=error.key, words=error.words)
    if isinstance(error, ForgedError):
        return await run_in_threadpool(call.page, "errors/forged.html", 403)
    if isinstance(error, UnknownPolicyError):  # somebody has renamed or removed it since the endpoint began
        error = HTTPException(404)
    if isinstance(error, ClientDisconnect):
        return Response(status_code=400)  # nobody reads it
    if isinstance(error, HTTPException):
        known = {403: "forbidden", 404: "missing", 413: "large"}.get(error.status_code, "missing")
        return await run_in_threadpool(call.page, f"errors/{known}.html", error.status_code)
    _log.error("%s failed with %s", route.path, type(error).__name__)
    return await run_in_threadpool(call.page, "errors/failed.html", 500)
