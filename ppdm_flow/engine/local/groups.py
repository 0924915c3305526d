"""Groups of a released file that several audits ask for: the file is read for them once."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pyarrow as pa


class SharedGroups:
    """Results by query; any thread may ask, and waits where another one is asking for the same."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._asking: dict[str, threading.Lock] = {}
        self._results: dict[str, pa.Table] = {}

    def once(self, query: str, ask: Callable[[], pa.Table]) -> pa.Table:
        """Return what ``ask`` returns for a query, or has returned; where it raises, the next one asks again."""
        with self._lock:
            mine = self._asking.setdefault(query, threading.Lock())
        with mine:
            if query not in self._results:
                self._results[query] = ask()
            return self._results[query]
