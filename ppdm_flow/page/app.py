"""The application: all features' routes, static files, headers."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from ppdm_flow.page.http.answering import answering
from ppdm_flow.page.http.headers import SecurityHeaders
from ppdm_flow.page.http.route import PageRoute
from ppdm_flow.page.http.turns import AnsweredInTurn, KnownHosts, busy, turn_of_address
from ppdm_flow.page.looks.templates import rendered
from ppdm_flow.page.services.places import BusyError
from ppdm_flow.page.settings import Settings
from ppdm_flow.page.site import Site
from ppdm_flow.page.views import (
    accounts,
    approvals,
    explain,
    guests,
    home,
    jobs,
    journal,
    keys,
    shown,
    uploads,
    waivers,
)
from ppdm_flow.page.views.form import routes as form
from ppdm_flow.page.views.hierarchies import routes as hierarchies
from ppdm_flow.page.views.policies import routes as policies
from ppdm_flow.page.views.runs import costs
from ppdm_flow.page.views.runs import routes as runs

STATIC = Path(__file__).parent / "static"
ROUTES: tuple[PageRoute, ...] = (
    *accounts.ROUTES,
    *approvals.ROUTES,
    *explain.ROUTES,
    *form.ROUTES,
    *guests.ROUTES,
    *hierarchies.ROUTES,
    *home.ROUTES,
    *jobs.ROUTES,
    *journal.ROUTES,
    *keys.ROUTES,
    *policies.ROUTES,
    *runs.ROUTES,
    *costs.ROUTES,
    *shown.ROUTES,
    *uploads.ROUTES,
    *waivers.ROUTES,
)
"""Every address of the page but ``/static``."""


def application(site: Site, routes: Iterable[PageRoute] = ROUTES) -> Starlette:
    """Return the application of a server. Routes that end in any path are matched last."""
    ordered = sorted(routes, key=lambda each: each.path.endswith(":path}"))
    return Starlette(
        routes=[
            *(Route(each.path, answering(site, each), methods=[each.method]) for each in ordered),
            Mount("/static", AnsweredInTurn(StaticFiles(directory=STATIC, packages=[("ppdm_flow.pictures", "css")]))),
        ],
        middleware=[
            Middleware(SecurityHeaders, secure=_strictly(site.settings)),
            Middleware(KnownHosts, site.settings),
        ],
        exception_handlers={404: _missing, 405: _missing},
    )


def _strictly(settings: Settings) -> bool:
    """Whether browsers have to come by HTTPS from now on: they would take no certificate that nobody signed."""
    return settings.secure and bool(settings.names) and not settings.own_certificate


async def _missing(request: Request, _error: Exception) -> Response:
    try:
        async with turn_of_address(request.client):
            return HTMLResponse(await run_in_threadpool(rendered, "errors/nothing_here.html"), 404)
    except BusyError:
        return busy()
