"""What audits of a released file share: one database over it, and the groups that several of them ask for."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    import duckdb


class SharedGroups:
    """Results by query; any thread may ask, and waits where another one is asking for the same."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._asking: dict[str, threading.Lock] = {}
        self._results: dict[str, pa.Table] = {}
        self._database: duckdb.DuckDBPyConnection | None = None

    def once(self, query: str, ask: Callable[[], pa.Table]) -> pa.Table:
        """Return what ``ask`` returns for a query, or has returned; where it raises, the next one asks again."""
        with self._lock:
            mine = self._asking.setdefault(query, threading.Lock())
        with mine:
            if query not in self._results:
                self._results[query] = ask()
            return self._results[query]

    def connection(self, open_database: Callable[[], duckdb.DuckDBPyConnection]) -> duckdb.DuckDBPyConnection:
        """Return a connection of one's own to the database over the file, which is opened for who asks first."""
        with self._lock:
            if self._database is None:
                self._database = open_database()
            return self._database.cursor()
