"""Tables of PostgreSQL: filled, read back and put in their places in one transaction."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import pyarrow as pa

from ppdm_flow.core.addresses.server import ServerAddress
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.core.texts.sql_names import quoted
from ppdm_flow.engine.delivery.target import Batches, DeliveryTarget, TableWriter, foreign_table, unfit
from ppdm_flow.sdk.databases.postgresql import PostgresConnection

_BEGIN = (
    "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE",
    "SET LOCAL statement_timeout = 0",
    "SET LOCAL idle_in_transaction_session_timeout = 0",
    "SET LOCAL lock_timeout = '60s'",
    "SET LOCAL synchronize_seqscans = off",
    "SET LOCAL max_parallel_workers_per_gather = 0",
    "SET LOCAL synchronous_commit = on",
    "SET LOCAL TimeZone = 'UTC'",
)
_THERE = """
SELECT c.relkind::text, coalesce(pg_catalog.obj_description(c.oid, 'pg_class'), '')
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = {schema} AND c.relname = {name}
"""


class PostgresTables(PostgresConnection, TableWriter):
    """One transaction."""

    def __init__(self, address: ServerAddress) -> None:
        super().__init__(address, _BEGIN)

    @cached_property
    def _own(self) -> str:
        """The schema of tables that are named without one."""
        return str(self._ask("SELECT pg_catalog.current_schema()")[0][0] or "public")

    def stage(self, target: DeliveryTarget, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> None:
        """Create the table and fill it by COPY."""
        home = target.schema or self._own
        self._ask(f"SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtext({_text(f'{home}.{target.name}')}))")
        self._judge(target)
        columns = ", ".join(f"{quoted(each.name)} {_type(each.type)}" for each in schema)
        self._ask(f"CREATE TABLE {quoted(home)}.{quoted(target.staging)} ({columns})")
        with self.filling(target), self._guarded(), self._connection.cursor() as cursor:
            reader = pa.RecordBatchReader.from_batches(schema, batches)
            cursor.adbc_ingest(target.staging, reader, mode="append", db_schema_name=home)

    def read(self, target: DeliveryTarget, schema: pa.Schema) -> Batches:
        """Yield the rows as they were written."""
        listed = ", ".join(quoted(name) for name in schema.names)
        with self.filling(target):
            for batch in self._batches(f"SELECT {listed} FROM {self._staging(target)}"):  # noqa: S608
                yield batch.cast(schema)

    def prepare(self, target: DeliveryTarget) -> None:
        """Replace the table by the new one; nobody else sees that before the commit."""
        home = quoted(target.schema or self._own)
        place = f"{home}.{quoted(target.name)}"
        self._judge(target)
        with self.filling(target):
            self._ask(f"DROP TABLE IF EXISTS {place}")
            self._ask(f"ALTER TABLE {self._staging(target)} RENAME TO {quoted(target.name)}")
            for index in target.indexes:
                self._ask(f"CREATE INDEX ON {place} ({', '.join(map(quoted, index))})")
            self._ask(f"COMMENT ON TABLE {place} IS {_text(target.comment)}")
            for column, text in target.comments.items():
                self._ask(f"COMMENT ON COLUMN {place}.{quoted(column)} IS {_text(text)}")
            for role in target.grants:
                self._ask(f"GRANT SELECT ON {place} TO {'PUBLIC' if role.lower() == 'public' else quoted(role)}")

    def commit(self) -> None:
        """End the transaction."""
        self._ask("COMMIT")

    def _judge(self, target: DeliveryTarget) -> None:
        asked = _THERE.format(schema=_text(target.schema or self._own), name=_text(target.name))
        for kind, comment in self._ask(asked):
            if kind != "r" or not target.may_replace(comment):
                raise foreign_table(self.place, target)

    def _staging(self, target: DeliveryTarget) -> str:
        return f"{quoted(target.schema or self._own)}.{quoted(target.staging)}"

    def _fault(self, error: Exception) -> PpdmError:
        state = None if self.filled is None else self._state(error)
        if self.filled is not None and state in _UNFIT:
            return unfit(self.place, self.filled, _UNFIT[state])
        return super()._fault(error)


_UNFIT = {
    "2BP01": "views or other objects need the table that it would replace: drop them first",
    "42704": "a role of `grants` is not there",
    "55P03": "others use the table that it would replace, and did not let go of it within a minute",
    "54000": "it has too many columns, or values that are too long for an index",
    "54011": "it has too many columns",
    "22021": "a text has a character that the database has not",
    "22000": "it has a value that the database does not take",
}


def _type(kind: pa.DataType) -> str:
    if pa.types.is_int64(kind):
        return "bigint"
    if pa.types.is_float64(kind):
        return "double precision"
    if pa.types.is_date32(kind):
        return "date"
    if pa.types.is_timestamp(kind):
        return "timestamp" if kind.tz is None else "timestamptz"
    return "text"


def _text(text: str) -> str:
    """Return a text as a literal of SQL, whatever the server takes a backslash for."""
    doubled = text.replace("'", "''").replace("\\", "\\\\")
    return f"E'{doubled}'"
