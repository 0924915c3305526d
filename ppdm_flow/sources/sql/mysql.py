"""MySQL and MariaDB: cells come as texts; numbers and moments are made of them by columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from ppdm_flow.core.addresses import ServerAddress
from ppdm_flow.core.texts import quoted
from ppdm_flow.sdk.databases.faults import fault, outside_calendar
from ppdm_flow.sdk.databases.mysql import MysqlConnection
from ppdm_flow.sources.sql.sqlite_file import SqlColumn, fetched, no_rows

_SESSION = "sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES', time_zone = '+00:00', net_write_timeout = 3600"
_BEGIN = (
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


class MysqlSession(MysqlConnection):
    """One transaction, in which every statement of InnoDB tables sees the same rows."""

    def __init__(self, address: ServerAddress) -> None:
        super().__init__(address, _SESSION, _BEGIN, conv={})

    def columns(self, relation: str) -> tuple[SqlColumn, ...]:
        """Return the columns of what stands after FROM, by the types that the server tells."""
        with self._streamed(f"SELECT * FROM {relation} AS q LIMIT 0") as cursor:  # noqa: S608
            fields = cursor._result.fields if cursor._result is not None else ()  # noqa: SLF001  # flags are told there
        return tuple(_column(field) for field in fields)

    def rows(self, columns: Sequence[SqlColumn], relation: str) -> Iterator[pa.RecordBatch]:
        """Yield the rows as they come from the server."""
        listed = ", ".join(str(c.expression) for c in columns) or "1"
        yield no_rows(columns)
        with self._streamed(f"SELECT {listed} FROM {relation} AS q") as cursor:  # noqa: S608
            yield from fetched(cursor, columns, _ROWS, self._array)

    def _array(self, column: SqlColumn, cells: Sequence[str | None]) -> pa.Array:
        try:
            texts = pa.array(cells, pa.string())
            return texts if pa.types.is_string(column.type) else texts.cast(column.type)
        except pa.ArrowException:
            if pa.types.is_temporal(column.type):
                raise outside_calendar(self.place, column.name) from None
            text = f"column `{column.name}` of the database `{self.place}` has a value that is not of its type"
            raise fault("PPF480", text) from None


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
