"""Requests that are sent at the same moment."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from sites import PATIENCE


def together(*sends: Callable[[], Any]) -> list[Any]:
    """Return the answers of all, in their order."""
    start = threading.Barrier(len(sends))

    def sent(send: Callable[[], Any]) -> Any:
        start.wait(PATIENCE)
        return send()

    with ThreadPoolExecutor(len(sends)) as pool:
        return list(pool.map(sent, sends))
