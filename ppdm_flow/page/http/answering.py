"""From a route to what the server calls: who asks, whether they may, their form, the journal."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from ppdm_flow.core.errors import PpdmError
from ppdm_flow.page.http import cookies
from ppdm_flow.page.http.call import Call
from ppdm_flow.page.http.origin import from_own_page
from ppdm_flow.page.http.route import PageRoute
from ppdm_flow.page.services.accounts.sessions import Visit
from ppdm_flow.page.services.accounts.words import new_word
from ppdm_flow.page.services.refusal import RefusalError
from ppdm_flow.page.site import Site

TOKEN = "form_token"  # noqa: S105  # the name of a field
TOKEN_HEADER = "x-form-token"  # noqa: S105  # the name of a header
_FIELDS = 2_000
_log = logging.getLogger("ppdm_flow.page")


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


def _keeps_visit(response: Response) -> bool:
    return any(cookies.VISIT in cookie for cookie in response.headers.getlist("set-cookie"))


async def _answer(site: Site, route: PageRoute, request: Request, visit: Visit) -> Response:
    call = Call(site, request, visit, FormData())
    subject = request.path_params.get(route.subject, "") if route.subject and visit.user else ""
    if not route.access.allows(visit.user):
        if route.action:
            await run_in_threadpool(site.journal.add, visit.user, route.action, subject, "refused")
        if visit.user is None:
            return RedirectResponse("/sign-in", 303)
        return await run_in_threadpool(call.page, "errors/forbidden.html", 403)
    if route.method == "GET":
        return await _called(call, route)
    if not route.takes_file:
        call = Call(site, request, visit, await _form(request, site.settings.form_bytes))
    token = request.headers.get(TOKEN_HEADER) or call.text(TOKEN)
    if not (visit.sent_by_own_page(token) and from_own_page(request, secure=site.settings.secure)):
        if route.action:
            await run_in_threadpool(site.journal.add, visit.user, route.action, subject, "refused")
        return await run_in_threadpool(call.page, "errors/forged.html", 403)
    response = await _called(call, route)
    if not route.action:
        return response
    outcome = "done" if response.status_code < 400 else "refused" if response.status_code < 500 else "failed"
    noted = call.noted
    subject = subject if noted.subject is None else noted.subject
    await run_in_threadpool(site.journal.add, noted.user or visit.user, route.action, subject, outcome)
    return response


async def _called(call: Call, route: PageRoute) -> Response:
    try:
        return await run_in_threadpool(route.endpoint, call)
    except PpdmError as error:
        status = 500 if error.exit_status == 3 else 400
        return await run_in_threadpool(call.page, "errors/diagnostics.html", status, diagnostics=error.diagnostics)
    except RefusalError as error:
        return await run_in_threadpool(call.page, "errors/refused.html", error.status, key=error.key, words=error.words)
    except HTTPException as error:
        known = {403: "forbidden", 404: "missing", 413: "large"}.get(error.status_code, "missing")
        return await run_in_threadpool(call.page, f"errors/{known}.html", error.status_code)
    except Exception as error:  # noqa: BLE001  # the server stays up, and nothing of the error's text is shown
        _log.error("%s failed with %s", route.path, type(error).__name__)
        return await run_in_threadpool(call.page, "errors/failed.html", 500)


async def _form(request: Request, most: int) -> FormData:
    """Return the form, of at most so many bytes. Raises HTTPException 413."""
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > most:
            raise HTTPException(413)
    request._body = bytes(body)  # noqa: SLF001  # how starlette keeps a body that was read
    return await request.form(max_files=0, max_fields=_FIELDS)
