"""The server of the page: uvicorn with limits, until it is told to stop."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType

import uvicorn
from starlette.types import ASGIApp

from ppdm_flow.engine.buckets.store import BUCKETS
from ppdm_flow.page.app import application
from ppdm_flow.page.services import bounded
from ppdm_flow.page.serving.addresses import address_of, check_address, listening
from ppdm_flow.page.serving.folders import check_folders, state_held
from ppdm_flow.page.serving.log import quote_no_values
from ppdm_flow.page.serving.patience import patient
from ppdm_flow.page.serving.tls import check_tls, with_own_certificate
from ppdm_flow.page.serving.upkeep import upkeep
from ppdm_flow.page.settings import Settings
from ppdm_flow.page.site import opened_site
from ppdm_flow.page.views.accounts.opening import ADDRESS
from ppdm_flow.policy.params import ALLOWED
from ppdm_flow.sdk.databases.faults import DATABASES

Ready = Callable[[str, str | None], None]
"""Is told the address, and the link that makes an administrator where there is none, once browsers may come."""
_NEW_AT_ONCE = 32
"""Connections that are taken before something is done for those that there are; as many more wait in the system."""
_SWITCH_SECONDS = 0.0005
"""How long a thread may hold the interpreter while others wait: a large page must not hold up many small steps."""


def serve(settings: Settings, ready: Ready) -> None:
    """Answer browsers until the process is interrupted or told to stop.

    Raises UsageError where it cannot be started as asked (PPF988 to PPF993).
    """
    sys.setswitchinterval(_SWITCH_SECONDS)
    check_folders(settings)
    check_tls(settings)
    check_address(settings)
    with state_held(settings), listening(settings) as place:
        settings = with_own_certificate(settings)
        os.environ[ALLOWED] = ",".join(settings.param_variables)  # for checks here, and for jobs, which inherit them
        os.environ[DATABASES] = ",".join(settings.databases)
        os.environ[BUCKETS] = ",".join(settings.buckets)
        bounded.begin()
        site = opened_site(settings)
        site.journal.recover()
        server = uvicorn.Server(configured(settings, application(site)))
        _stop_without_an_error(server)
        address = address_of(settings, place)
        links = site.people.links
        word = links.another_administrator() if settings.new_administrator else links.first_administrator()
        ready(address, None if word is None else address + ADDRESS.format(word=word))
        with upkeep(site):
            server.run(sockets=[place])


def configured(settings: Settings, app: ASGIApp) -> uvicorn.Config:
    """Return how uvicorn serves: no version in answers, no log of addresses, limits for slow and many clients.

    The certificate is with these limits (``patient``): uvicorn would count no connection before its handshake.
    """
    quote_no_values()
    return uvicorn.Config(
        app,
        loop="asyncio",
        http=patient(settings),
        ws="none",
        interface="asgi3",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=bool(settings.proxy),
        forwarded_allow_ips=settings.proxy or "",
        backlog=_NEW_AT_ONCE,
        limit_concurrency=2 * settings.connections,
        timeout_keep_alive=int(settings.head_seconds),
        timeout_graceful_shutdown=settings.stop_seconds,
    )


def _stop_without_an_error(server: uvicorn.Server) -> None:
    """Let the signals that stop the server end it well, also before it begins to answer.

    uvicorn takes them while it answers, and raises them once more when it has stopped.
    """

    def stop(_number: int, _frame: FrameType | None) -> None:
        server.should_exit = True

    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, stop)
