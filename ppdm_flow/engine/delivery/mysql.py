"""Tables of MySQL and MariaDB, which have no transactions for tables: all take their places by one RENAME."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.core.addresses.server import ServerAddress
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.core.texts.sql_names import quoted
from ppdm_flow.engine.delivery.target import Target, foreign_table, unfit
from ppdm_flow.sdk.databases.faults import machine_fault, server_fault, told
from ppdm_flow.sdk.databases.mysql import connect, mysql_fault

_BEGIN = (
    "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,NO_BACKSLASH_ESCAPES'",
    "SET SESSION time_zone = '+00:00'",
    "SET SESSION lock_wait_timeout = 60",
)
_ROWS = 5_000
_PREFIX = 191
"""Characters of a text that an index takes."""
_WAIT = 60
_LONGEST = 64
"""Characters of the name of a lock."""
_THERE = """
SELECT TABLE_TYPE, TABLE_COMMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = %s
"""
_STALE = """
SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME LIKE %s
"""
_UNFIT = {
    1406: "a text is longer than its column can be",
    1366: "a text has a character that the database has not",
    1071: "an index is longer than the database allows",
    1117: "it has too many columns",
    1118: "its rows are too long",
    1059: "a name is longer than the database allows",
    1264: "a number is out of the range of its column",
    1292: "a date is outside what the database takes",
}


class MysqlTables:
    """One connection, with a lock for each table that it fills."""

    def __init__(self, address: ServerAddress) -> None:
        self.place = address.name
        self._driver, self._connection = connect(address)
        self._staged: list[Target] = []
        try:
            for statement in _BEGIN:
                self._ask(statement)
        except BaseException:
            self.close()
            raise

    def stage(self, target: Target, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> None:
        """Create the table and fill it; what an ended run left of the same table is dropped first."""
        if target.schema is not None:
            raise unfit(self.place, target, "its database is that of the URL, so that it has no other schema")
        self._lock(target)
        self._judge(target)
        for (stale,) in self._ask(_STALE, (f"{_prefix(target)}%",)):
            self._ask(f"DROP TABLE {quoted(stale, '`')}")
        columns = [f"{_name(each.name)} {_type(each.type)} NULL{self._comment(target, each.name)}" for each in schema]
        indexes = [f"INDEX ({', '.join(_indexed(column, schema) for column in index)})" for index in target.indexes]
        made = f"CREATE TABLE {_name(_staging(target))} ({', '.join((*columns, *indexes))})"
        text = f"CHARACTER SET utf8mb4 COLLATE utf8mb4_bin COMMENT = {_text(target.comment)}"
        self._ask(f"{made} {text}", (), target)
        self._staged.append(target)
        marks = ", ".join(["%s"] * len(schema))
        insert = f"INSERT INTO {_name(_staging(target))} VALUES ({marks})"  # noqa: S608  # no `%` is in its name
        with self._guarded(target), self._connection.cursor() as cursor:
            cursor.execute("START TRANSACTION")
            for batch in batches:
                for start in range(0, batch.num_rows, _ROWS):
                    cursor.executemany(insert, _rows(batch.slice(start, _ROWS)))
            cursor.execute("COMMIT")

    def read(self, target: Target, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """Yield the rows as they were written."""
        listed = ", ".join(_name(name) for name in schema.names)
        with self._guarded(target), self._connection.cursor(self._driver.cursors.SSCursor) as cursor:
            cursor.execute(f"SELECT {listed} FROM {_name(_staging(target))}")  # noqa: S608
            while rows := cursor.fetchmany(_ROWS):
                cells = zip(*rows, strict=True)
                arrays = [_array(*each) for each in zip(cells, schema, strict=True)]
                yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    def prepare(self, target: Target) -> None:
        """Look once more at what has its place."""
        self._judge(target)

    def commit(self) -> None:
        """Rename all tables in one statement, and drop those that were there before."""
        there = [target for target in self._staged if self._ask(_THERE, (target.name,))]
        away = [f"{_name(t.name)} TO {_name(f'{_prefix(t)}old')}" for t in there]
        here = [f"{_name(_staging(t))} TO {_name(t.name)}" for t in self._staged]
        self._ask(f"RENAME TABLE {', '.join((*away, *here))}")
        self._staged = []
        for target in there:
            self._ask(f"DROP TABLE {_name(f'{_prefix(target)}old')}")

    def close(self) -> None:
        """Drop what did not take its place, and hang up."""
        for target in self._staged:
            with contextlib.suppress(PpdmError):
                self._ask(f"DROP TABLE IF EXISTS {_name(_staging(target))}")
        with contextlib.suppress(Exception):
            self._connection.close()

    def _lock(self, target: Target) -> None:
        if self._ask("SELECT GET_LOCK(%s, %s)", (_prefix(target)[:_LONGEST], _WAIT)) != [(1,)]:
            text = f"another run writes the table `{target.shown}` of the database `{self.place}`"
            raise machine_fault("PPF475", text)

    def _judge(self, target: Target) -> None:
        found = self._ask(_THERE, (target.name,))
        if found and (found[0][0] != "BASE TABLE" or not target.may_replace(found[0][1])):
            raise foreign_table(self.place, target)

    def _comment(self, target: Target, column: str) -> str:
        text = target.comments.get(column)
        return f" COMMENT {_text(text)}" if text else ""

    def _ask(self, statement: str, values: Sequence[Any] = (), target: Target | None = None) -> list[tuple[Any, ...]]:
        with self._guarded(target), self._connection.cursor() as cursor:
            cursor.execute(statement, tuple(values) or None)
            return list(cursor.fetchall())

    def _guarded(self, target: Target | None) -> AbstractContextManager[None]:
        return told(partial(self._fault, target))

    def _fault(self, target: Target | None, error: Exception) -> PpdmError | None:
        if not isinstance(error, self._driver.Error):
            broke = isinstance(error, OSError | AttributeError | TypeError | IndexError)  # so PyMySQL says it
            return server_fault(self.place, None, connected=True) if broke else None
        number = error.args[0] if error.args else None
        if target is not None and number in _UNFIT:
            return unfit(self.place, target, _UNFIT[number])
        return mysql_fault(self.place, error)


def _prefix(target: Target) -> str:
    """Return how names begin of what is filled in the stead of a table."""
    return f"ppdm_flow_{hashlib.sha256(target.name.encode()).hexdigest()[:16]}_"


def _staging(target: Target) -> str:
    return f"{_prefix(target)}{target.staging[-16:]}"


def _name(name: str) -> str:
    return quoted(name, "`")


def _text(text: str) -> str:
    """Return a text as a literal, in a mode in which a backslash is nothing else."""
    return "'" + text.replace("'", "''") + "'"


def _type(kind: pa.DataType) -> str:
    if pa.types.is_int64(kind):
        return "BIGINT"
    if pa.types.is_float64(kind):
        return "DOUBLE"
    if pa.types.is_date32(kind):
        return "DATE"
    return "DATETIME(6)" if pa.types.is_timestamp(kind) else "LONGTEXT"


def _indexed(column: str, schema: pa.Schema) -> str:
    return f"{_name(column)}({_PREFIX})" if pa.types.is_string(schema.field(column).type) else _name(column)


def _rows(batch: pa.RecordBatch) -> list[tuple[Any, ...]]:
    """Return rows for the driver; moments with a time zone are in UTC, and stand without it."""
    plain = [c.cast(pa.timestamp("us")) if pa.types.is_timestamp(c.type) and c.type.tz else c for c in batch.columns]
    return list(zip(*(column.to_pylist() for column in plain), strict=True))


def _array(cells: Sequence[Any], column: pa.Field) -> pa.Array:
    if pa.types.is_timestamp(column.type) and column.type.tz is not None:
        return pc.assume_timezone(pa.array(cells, pa.timestamp("us")), "UTC").cast(column.type)
    return pa.array(cells, column.type)
