"""What the server does by itself while it runs: uploads whose time is over are removed, and copies of hidden tables."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ppdm_flow.page.services.tables.shown_tables import keep_shown
from ppdm_flow.page.site import Site

_SECONDS = 60.0
_log = logging.getLogger("ppdm_flow.page")


@contextmanager
def upkeep(site: Site, seconds: float = _SECONDS) -> Iterator[None]:
    """Tidy up at once, and then every so many seconds until the block ends."""
    stopped = threading.Event()
    tasks = (site.jobs.tidy, site.uploads.tidy, site.hierarchies.tidy, site.journal.tidy)
    _carry_out(tasks)

    def go_on() -> None:
        while not stopped.wait(seconds):
            _carry_out((*tasks, lambda: keep_shown(site.tables, site.shown.releases())))

    thread = threading.Thread(target=go_on, name="upkeep", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()
        site.journal.tidy(whole=True)


def _carry_out(tasks: tuple[Callable[[], None], ...]) -> None:
    for task in tasks:
        try:
            task()
        except Exception as error:  # noqa: BLE001  # the next minute is another try
            _log.error("tidying up failed with %s", type(error).__name__)
