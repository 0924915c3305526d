"""MySQL and MariaDB, through PyMySQL: cells come as texts; numbers and moments are made of them by columns."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

import pyarrow as pa

from ppdm_flow.core.addresses.server import ServerAddress
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.core.texts.sql_names import quoted
from ppdm_flow.sdk.databases.faults import fault, outside_calendar, server_fault, told
from ppdm_flow.sdk.databases.mysql import connect, mysql_fault
from ppdm_flow.sources.sql.session import SqlColumn, fetched, no_rows

_BEGIN = (
    "SET SESSION sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES'",
    "SET SESSION time_zone = '+00:00'",
    "SET SESSION net_write_timeout = 3600",
    "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
    "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
)
_ROWS = 1 << 15
_BINARY = 63
"""The character set of bytes."""
_UNSIGNED = 32
_INTEGERS, _LONG = frozenset({1, 2, 3, 8, 9, 13}), 8
_FLOATS = frozenset({4, 5})
_MOMENTS, _DATE = frozenset({7, 12}), 10
_TEXTS = frozenset({0, 11, 245, 246, 247, 248})
_STRINGS = frozenset({15, 249, 250, 251, 252, 253, 254})
_BIT, _GEOMETRY = 16, 255
"""Types of columns, by their numbers in the protocol: decimals, times, JSON, ENUM and SET are texts."""


class MysqlSession:
    """One transaction, in which every statement of InnoDB tables sees the same rows."""

    def __init__(self, address: ServerAddress) -> None:
        self.place = address.name
        self._driver, self._connection = connect(address, conv={})
        self._unbuffered = self._driver.cursors.SSCursor
        try:
            with self._guarded(), self._connection.cursor() as cursor:
                for statement in _BEGIN:
                    cursor.execute(statement)
        except BaseException:
            self.close()
            raise

    def columns(self, relation: str) -> tuple[SqlColumn, ...]:
        """Return the columns of what stands after FROM, by the types that the server tells."""
        with self._guarded(), self._connection.cursor() as cursor:
            cursor.execute(f"SELECT * FROM {relation} AS q LIMIT 0")  # noqa: S608
            fields = cursor._result.fields if cursor._result is not None else ()  # noqa: SLF001  # flags are told there
        return tuple(_column(field) for field in fields)

    def rows(self, columns: Sequence[SqlColumn], relation: str) -> Iterator[pa.RecordBatch]:
        """Yield the rows as they come from the server."""
        listed = ", ".join(str(c.expression) for c in columns) or "1"
        yield no_rows(columns)
        with self._guarded(), self._connection.cursor(self._unbuffered) as cursor:
            cursor.execute(f"SELECT {listed} FROM {relation} AS q")  # noqa: S608
            yield from fetched(cursor, columns, _ROWS, self._array)

    def close(self) -> None:
        """Hang up; nothing was written."""
        with contextlib.suppress(Exception):
            self._connection._force_close()  # noqa: SLF001  # `close` would read what the server still has to send

    def _array(self, column: SqlColumn, cells: Sequence[str | None]) -> pa.Array:
        try:
            texts = pa.array(cells, pa.string())
            return texts if pa.types.is_string(column.type) else texts.cast(column.type)
        except pa.ArrowException:
            if pa.types.is_temporal(column.type):
                raise outside_calendar(self.place, column.name) from None
            text = f"column `{column.name}` of the database `{self.place}` has a value that is not of its type"
            raise fault("PPF480", text) from None

    def _guarded(self) -> AbstractContextManager[None]:
        return told(self._fault)

    def _fault(self, error: Exception) -> PpdmError | None:
        if isinstance(error, self._driver.Error):
            return mysql_fault(self.place, error)
        broke = isinstance(error, OSError | AttributeError | TypeError | IndexError | ValueError)  # so PyMySQL says it
        return server_fault(self.place, None, connected=True) if broke else None


def _column(field: Any) -> SqlColumn:
    kind = _type(field)
    if kind is None:
        refused = {_BIT: "BIT", _GEOMETRY: "GEOMETRY"}.get(field.type_code, "BINARY or BLOB")
        return SqlColumn(field.name, None, refused)
    return SqlColumn(field.name, quoted(field.name, "`"), type=kind)


def _type(field: Any) -> pa.DataType | None:
    """Return the type of a column; None for bytes."""
    code = field.type_code
    if code in _INTEGERS:
        return pa.uint64() if code == _LONG and field.flags & _UNSIGNED else pa.int64()
    if code in _FLOATS:
        return pa.float64()
    if code in _MOMENTS:
        return pa.timestamp("us")
    if code == _DATE:
        return pa.date32()
    return pa.string() if code in _TEXTS or (code in _STRINGS and field.charsetnr != _BINARY) else None
