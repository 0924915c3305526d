"""One SQLite file: a connection a thread, short transactions, whole after a crash."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ppdm_flow.page.services.storage.disk import room

_SECONDS = 10.0
"""How long a writer waits for another."""


class PageDatabase:
    """The server's file. Each feature brings the statements that make its tables; they may be carried out again."""

    def __init__(self, file: Path, schema: Sequence[str]) -> None:
        self._file = file
        self._own = threading.local()
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        file.touch(mode=0o600, exist_ok=True)
        with self.changing() as connection:
            for statement in schema:
                connection.execute(statement)

    @property
    def free_bytes(self) -> int:
        """How much room its disk has left."""
        return room(self._file.parent)

    @contextmanager
    def changing(self) -> Iterator[sqlite3.Connection]:
        """Give a connection in a transaction that holds the write lock; an error that leaves the block undoes it."""
        connection = self._connection()
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield connection
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")

    def rows(self, query: str, *values: object) -> list[sqlite3.Row]:
        """Return all rows of a query that changes nothing."""
        return self._connection().execute(query, values).fetchall()

    def row(self, query: str, *values: object) -> sqlite3.Row | None:
        """Return the first row of a query that changes nothing; None where there is none."""
        row: sqlite3.Row | None = self._connection().execute(query, values).fetchone()
        return row

    def _connection(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._own, "connection", None)
        if connection is None:
            connection = sqlite3.connect(self._file, timeout=_SECONDS, isolation_level=None)
            connection.row_factory = sqlite3.Row
            for setting in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
                connection.execute(f"PRAGMA {setting}")
            self._own.connection = connection
        return connection
