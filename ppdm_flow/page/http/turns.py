"""Threads of the server are shared: the requests of one person take a few of them, and wait without one beyond that."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar
from weakref import WeakValueDictionary

from anyio import CapacityLimiter
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from ppdm_flow.page.services.accounts.roles import User
from ppdm_flow.page.services.places import PERSON

P = ParamSpec("P")
T = TypeVar("T")
_AT_ONCE = 6
_limiters: WeakValueDictionary[str, CapacityLimiter] = WeakValueDictionary()
"""One for each person with a request, in the one thread of the server that takes them."""


async def run_in_turn(
    request: Request, user: User | None, function: Callable[P, T], *arguments: P.args, **named: P.kwargs
) -> T:
    """Call a function in a thread, once fewer than so many work for this person, or for this address of a stranger."""
    person = f"account {user.id}" if user is not None else f"address {request.client.host if request.client else ''}"
    limiter = _limiters.get(person)
    if limiter is None:
        limiter = _limiters[person] = CapacityLimiter(_AT_ONCE)
    async with limiter:
        PERSON.set(person)
        return await run_in_threadpool(function, *arguments, **named)
