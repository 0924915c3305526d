"""Which names browsers may ask the server by: a page of somebody else's cannot point its own name here."""

from __future__ import annotations

import ipaddress
import re
from contextlib import suppress

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.responses import HTMLResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from ppdm_flow.page.http.turns import AnsweredInTurn
from ppdm_flow.page.looks.templates import rendered
from ppdm_flow.page.settings import Settings

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
