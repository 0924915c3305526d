"""Tables of MySQL and MariaDB, which have no transactions for tables: all take their places by one RENAME."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.core.addresses.server import ServerAddress
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.core.texts.sql_names import quoted
from ppdm_flow.engine.delivery.target import Batches, DeliveryTarget, TableWriter, foreign_table, unfit
from ppdm_flow.sdk.databases.faults import machine_fault
from ppdm_flow.sdk.databases.mysql import MysqlConnection, error_number

_SESSION = (
    "sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,NO_BACKSLASH_ESCAPES', time_zone = '+00:00',"
    " lock_wait_timeout = 60"
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


class MysqlTables(MysqlConnection, TableWriter):
    """One connection, with a lock for each table that it fills."""

    def __init__(self, address: ServerAddress) -> None:
        self._staged: list[DeliveryTarget] = []
        super().__init__(address, _SESSION)

    def stage(self, target: DeliveryTarget, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> None:
        """Create the table and fill it; what an ended run left of the same table is dropped first."""
        if target.schema is not None:
            raise unfit(self.place, target, "its database is that of the URL, so that it has no other schema")
        self._lock(target)
        self._judge(target)
        for (stale,) in self._ask(_STALE, (f"{_prefix(target)}%",)):
            self._ask(f"DROP TABLE {_name(stale)}")
        table = _table(target, schema)
        with self.filling(target), self._guarded():
            table.create(self._connection)
            self._staged.append(target)
            self._ask("START TRANSACTION")
            for batch in batches:
                for start in range(0, batch.num_rows, _ROWS):
                    self._connection.execute(table.insert(), _rows(batch.slice(start, _ROWS)))
            self._ask("COMMIT")

    def read(self, target: DeliveryTarget, schema: pa.Schema) -> Batches:
        """Yield the rows as they were written."""
        listed = ", ".join(map(_name, schema.names))
        every = f"SELECT {listed} FROM {_name(_staging(target))}"  # noqa: S608
        with self.filling(target), self._streamed(every) as cursor:
            while rows := cursor.fetchmany(_ROWS):
                arrays = [_array(*each) for each in zip(zip(*rows, strict=True), schema, strict=True)]
                yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    def prepare(self, target: DeliveryTarget) -> None:
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
        super().close()

    def _lock(self, target: DeliveryTarget) -> None:
        if self._ask("SELECT GET_LOCK(%s, %s)", (_prefix(target)[:_LONGEST], _WAIT)) != [(1,)]:
            text = f"another run writes the table `{target.shown}` of the database `{self.place}`"
            raise machine_fault("PPF475", text)

    def _judge(self, target: DeliveryTarget) -> None:
        found = self._ask(_THERE, (target.name,))
        if found and (found[0][0] != "BASE TABLE" or not target.may_replace(found[0][1])):
            raise foreign_table(self.place, target)

    def _fault(self, error: Exception) -> PpdmError:
        if self.filled is not None and (number := error_number(error)) in _UNFIT:
            return unfit(self.place, self.filled, _UNFIT[number])
        return super()._fault(error)


def _prefix(target: DeliveryTarget) -> str:
    """Return how names begin of what is filled in the stead of a table."""
    return f"ppdm_flow_{hashlib.sha256(target.name.encode()).hexdigest()[:16]}_"


def _staging(target: DeliveryTarget) -> str:
    return f"{_prefix(target)}{target.staging[-16:]}"


def _name(name: str) -> str:
    return quoted(name, "`")


def _table(target: DeliveryTarget, schema: pa.Schema) -> Any:
    """Return the table as it is filled; columns go by their numbers, since names of parameters lose characters."""
    import sqlalchemy as sql  # noqa: PLC0415  # of an extra
    from sqlalchemy.dialects import mysql  # noqa: PLC0415  # the same

    kinds: dict[pa.DataType, Any] = {
        pa.int64(): sql.BigInteger(),
        pa.float64(): mysql.DOUBLE(asdecimal=False),
        pa.date32(): sql.Date(),
        pa.string(): mysql.LONGTEXT(),
    }
    moment = mysql.DATETIME(fsp=6)
    columns = {
        each.name: sql.Column(
            each.name, kinds.get(each.type, moment), key=str(number), comment=target.comments.get(each.name) or None
        )
        for number, each in enumerate(schema)
    }
    lengths = {each.name: _PREFIX for each in schema if each.type == pa.string()}
    indexes = [
        sql.Index(f"index_{number}", *(columns[name] for name in names), mysql_length=lengths)
        for number, names in enumerate(target.indexes, 1)
    ]
    return sql.Table(
        _staging(target),
        sql.MetaData(),
        *columns.values(),
        *indexes,
        comment=target.comment,
        mysql_charset="utf8mb4",
        mysql_collate="utf8mb4_bin",
    )


def _rows(batch: pa.RecordBatch) -> list[dict[str, Any]]:
    """Return rows by the keys of columns; moments with a time zone are in UTC, and stand without it."""
    plain = [c.cast(pa.timestamp("us")) if pa.types.is_timestamp(c.type) and c.type.tz else c for c in batch.columns]
    rows: list[dict[str, Any]] = pa.RecordBatch.from_arrays(plain, names=list(map(str, range(len(plain))))).to_pylist()
    return rows


def _array(cells: Sequence[Any], column: pa.Field) -> pa.Array:
    if pa.types.is_timestamp(column.type) and column.type.tz is not None:
        return pc.assume_timezone(pa.array(cells, pa.timestamp("us")), "UTC").cast(column.type)
    return pa.array(cells, column.type)
