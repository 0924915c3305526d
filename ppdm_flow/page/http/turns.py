"""Turns of requests: few with the same name are worked on at once, and those that wait take no thread."""

from __future__ import annotations

import asyncio
import ipaddress
import re
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from functools import cache
from weakref import WeakValueDictionary

from anyio import CancelScope, CapacityLimiter, WouldBlock, create_task_group
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ppdm_flow.page.looks.templates import rendered
from ppdm_flow.page.services.accounts.attempts import network
from ppdm_flow.page.services.places import BusyError
from ppdm_flow.page.settings import Settings

AT_ONCE = 3
"""Requests of one person, or of one address of people who are not signed in, that are worked on at once."""
WAITING = 64
STREAMS, STREAMS_WAITING = 2, 8
"""Answers in pieces that one person is sent at once, such as archives, and those that wait."""
_LOOKED_UP = 512
"""Requests of one address that wait until it is known who asks: many people may share an address."""
PIECE = 1 << 16
"""Bytes of an answer that are handed over at once: the connection holds what its client does not read."""
_SLOW = 0.05
"""Seconds after which a client reads an answer slowly."""
_limiters: WeakValueDictionary[str, CapacityLimiter] = WeakValueDictionary()
"""One for each name with a request, in the one thread of the server that takes them."""


@asynccontextmanager
async def turn(
    name: str, request: Request | None = None, *, at_once: int = AT_ONCE, waiting: int = WAITING
) -> AsyncIterator[None]:
    """Wait until fewer than ``at_once`` requests of this name have their turn, and hold one.

    With a ``request``, whose body has been read, a client that goes stops waiting: ClientDisconnect is raised.
    BusyError is raised where ``waiting`` others wait already.
    """
    limiter = _limiters.get(name)
    if limiter is None:
        limiter = _limiters[name] = CapacityLimiter(at_once)
    try:
        limiter.acquire_nowait()
    except WouldBlock:
        if limiter.statistics().tasks_waiting >= waiting:
            raise BusyError from None
        await _wait(limiter, request)
    try:
        yield
    finally:
        limiter.release()


def turn_of_address(client: tuple[str, int] | None) -> AbstractAsyncContextManager[None]:
    """Wait as `turn` does among the requests of an address of which nobody knows yet who asks."""
    return turn(f"visit from address {network(client[0] if client else '')}", waiting=_LOOKED_UP)


def busy() -> HTMLResponse:
    """Return the answer to somebody for whom too many requests wait."""
    return HTMLResponse(_busy(), 429, {"retry-after": "1"})


@cache
def _busy() -> str:
    return rendered("errors/busy.html")


class AnsweredInTurn:
    """An application in which few requests of one address are answered at once: what is the same for all visitors.

    A client that reads slowly gives its turn back, so that others of its address do not wait for it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        exit_stack = AsyncExitStack()
        try:
            await exit_stack.enter_async_context(turn_of_address(scope.get("client")))
        except BusyError:
            await busy()(scope, receive, send)
            return

        async def send_and_look(message: Message) -> None:
            sending = asyncio.ensure_future(send(message))
            done, _ = await asyncio.wait({sending}, timeout=_SLOW)
            if not done:
                await exit_stack.aclose()
            await sending

        async with exit_stack:
            await self._app(scope, receive, send_and_look)


class ResponseInTurn(Response):
    """An answer that is sent while a turn is held, and gives it back however that ends."""

    def __init__(self, response: Response, exit_stack: AsyncExitStack) -> None:
        self._response, self._exit_stack = response, exit_stack
        self.status_code, self.raw_headers = response.status_code, response.raw_headers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the answer, no more at once than its client reads."""

        async def send_pieces(message: Message) -> None:
            body = message.get("body", b"")
            for start in range(0, len(body) - PIECE, PIECE):
                await send({**message, "body": body[start : start + PIECE], "more_body": True})
            await send({**message, "body": body[(len(body) - 1) // PIECE * PIECE :]} if body else message)

        async with self._exit_stack:
            await self._response(scope, receive, send_pieces)


async def _wait(limiter: CapacityLimiter, request: Request | None) -> None:
    if request is None:
        await limiter.acquire()
        return
    has_turn = False
    async with create_task_group() as group:
        group.start_soon(_cancel_when_gone, request, group.cancel_scope)
        await limiter.acquire()
        has_turn = True
        group.cancel_scope.cancel()
    if not has_turn:
        raise ClientDisconnect


async def _cancel_when_gone(request: Request, scope: CancelScope) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
    scope.cancel()


# Which names browsers may ask the server by: a page of somebody else's cannot point its own name here.


_HOST = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::[0-9]{1,5})?")
"""A name or an address, and a port: links are made of it, and what looks like a port could be another host."""
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


class KnownHosts:
    """Answers requests for other names with 421, before anything is looked up for them."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._names = known_names(settings)
        self._elsewhere = AnsweredInTurn(_elsewhere)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        given = Headers(scope=scope).getlist("host")
        if len(given) == 1 and _HOST.fullmatch(given[0]) and name_of(given[0]) in self._names:
            await self._app(scope, receive, send)
            return
        await self._elsewhere(scope, receive, send)


async def _elsewhere(scope: Scope, receive: Receive, send: Send) -> None:
    page = await run_in_threadpool(rendered, "errors/elsewhere.html")
    await HTMLResponse(page, 421)(scope, receive, send)


def known_names(settings: Settings) -> frozenset[str]:
    """Return the names of a server, without ports."""
    own = {name_of(settings.host), *(name_of(name) for name in settings.names)}
    return frozenset(own | _LOOPBACK) if own & _LOOPBACK or _is_loopback(settings.host) else frozenset(own)


def name_of(host: str) -> str:
    """Return the name in ``Host``: without the port, without brackets, in small letters.

    >>> name_of("Release.example.org:8471"), name_of("[::1]:8471"), name_of("::1")
    ('release.example.org', '::1', '::1')
    """
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    name = host.partition(":")[0] if host.count(":") == 1 else host
    return name.lower().removesuffix(".")


def _is_loopback(host: str) -> bool:
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return False
