"""The server of the page: uvicorn with limits, until it is told to stop."""

from __future__ import annotations

import uvicorn

from ppdm_flow.page.app import application
from ppdm_flow.page.settings import Settings
from ppdm_flow.page.site import opened_site


def serve(settings: Settings) -> None:
    """Answer browsers until the process is interrupted."""
    uvicorn.run(
        application(opened_site(settings)),
        host=settings.host,
        port=settings.port,
        log_level="warning",
        server_header=False,
        date_header=False,
    )
