"""Databases that are one file: SQLite and DuckDB, told apart by how the file begins."""

from __future__ import annotations

from pathlib import Path

from ppdm_flow.sdk.databases.faults import fault
from ppdm_flow.sources.faults import empty, unreadable
from ppdm_flow.sources.sql.duckdb_file import DuckSession
from ppdm_flow.sources.sql.session import Session
from ppdm_flow.sources.sql.sqlite_file import SqliteSession

_SQLITE = b"SQLite format 3\x00"
_DUCKDB = (8, b"DUCK")


def file_session(path: Path) -> Session:
    """Open a database file for reading. Raises DataError where it is none."""
    try:
        with path.open("rb") as file:
            head = file.read(32)
    except OSError as error:
        raise unreadable(path, error) from None
    if not head:
        raise empty(path)
    if head.startswith(_SQLITE):
        return SqliteSession(path)
    start, mark = _DUCKDB
    if head[start:].startswith(mark):
        return DuckSession(path)
    raise fault("PPF717", f"`{path}` is no database file", "SQLite and DuckDB files can be read; is it another format?")
