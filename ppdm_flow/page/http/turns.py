"""Turns of requests: few with the same name are worked on at once, and those that wait take no thread."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from weakref import WeakValueDictionary

from anyio import CancelScope, CapacityLimiter, WouldBlock, create_task_group
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from ppdm_flow.page.services.places import BusyError

AT_ONCE = 3
"""Requests of one person, or of one address of people who are not signed in, that are worked on at once."""
WAITING = 64
STREAMS, STREAMS_WAITING = 2, 8
"""Answers in pieces that one person is sent at once, such as archives, and those that wait."""
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


class ResponseInTurn(Response):
    """An answer that is sent while a turn is held, and gives it back however that ends."""

    def __init__(self, response: Response, held: AsyncExitStack) -> None:
        self._response, self._held = response, held
        self.status_code, self.raw_headers = response.status_code, response.raw_headers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the answer."""
        async with self._held:
            await self._response(scope, receive, send)


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
