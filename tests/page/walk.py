"""Every address of the page, with names that exist, and every field that its code reads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from sites import Server

import ppdm_flow.page.views
from ppdm_flow.page.app import ROUTES
from ppdm_flow.page.http.route import PageRoute
from ppdm_flow.page.services.accounts.roles import PageRole

_PART = re.compile(r"\{(\w+)(?::\w+)?\}")
_FIELD = re.compile(r"""(?:\.texts?\(|query\.get\(|query\[|form\.get\()\s*f?["']([\w.\-]+)["']""")


def parts(route: PageRoute) -> list[str]:
    """Return the names of the parts of an address that are filled in."""
    return _PART.findall(route.path)


def filled(route: PageRoute, names: dict[str, str]) -> str:
    """Return an address with names in place of its parts."""
    return _PART.sub(lambda match: names[match[1]], route.path)


@cache
def fields() -> tuple[str, ...]:
    """Return the names of all fields and queries that the page's code reads."""
    folder = Path(ppdm_flow.page.views.__path__[0])
    names = {name for file in folder.rglob("*.py") for name in _FIELD.findall(file.read_text())}
    return tuple(sorted(names - {"form_token", "said"}))


def role_for(server: Server, route: PageRoute) -> PageRole | None:
    """Return a role that may ask for an address; None where everybody may."""
    if route.access.public:
        return None
    return next(role for role in PageRole if route.access.allows(server.users[role]))


def routes(method: str, *, with_parts: bool | None = None) -> Iterator[PageRoute]:
    """Yield the routes of a method."""
    for route in ROUTES:
        if route.method == method and with_parts in (None, bool(parts(route))):
            yield route
