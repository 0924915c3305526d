"""Snowflake and BigQuery, through ADBC: one statement, whose batches are of the types that Arrow has for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from ppdm_flow.core.addresses import BIGQUERY, ServerAddress
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.core.texts import quoted
from ppdm_flow.sdk.databases.connection import AdbcConnection
from ppdm_flow.sdk.databases.faults import DATABASE_FAULTS, ENCRYPTION, FAILED, driver, fault
from ppdm_flow.sdk.databases.settings import driver_settings
from ppdm_flow.sources.sql.enclosing import stays_enclosed
from ppdm_flow.sources.sql.sqlite_file import SqlColumn, no_rows

_WHOLE = 18
"""Digits that every number of 64 bits holds."""


_KINDS = (
    ("390100", "28000"),
    ("390144", "28000"),
    ("incorrect username or password", "28000"),
    ("jwt token is invalid", "28000"),
    ("could not find default credentials", "28000"),
    ("unauthenticated", "28000"),
    ("constructing client: credentials", "28000"),
    ("invalid_grant", "28000"),
    ("insufficient privileges", "42501"),
    ("permission denied", "42501"),
    ("accessdenied", "42501"),
    ("access denied", "42501"),
    ("does not exist or not authorized", "42P01"),
    ("not found: table", "42P01"),
    ("not found: dataset", "3F000"),
    ("invalid identifier", "42703"),
    ("unrecognized name", "42703"),
    ("syntax error", "42601"),
    ("invalidquery", "42601"),
    ("no active warehouse", "42601"),
)
"""What the services say, by their words: each driver gives other codes."""
_LOST = ("dial tcp", "no such host", "connection refused", "timeout", "deadline exceeded", "eof", "lookup ")
_PROJECT, _DATASET = (f"adbc.bigquery.sql.query.default_{what}_id" for what in ("project", "dataset"))


class WarehouseSession(AdbcConnection):
    """A connection that reads one table or query: what two statements see need not be of one moment."""

    def __init__(self, address: ServerAddress) -> None:
        self._dialect, self._mark, extra, what = address.dialect, '"', "snowflake", "Snowflake"
        self._read: str | None = None
        options: dict[str, str] = {}
        if address.dialect == BIGQUERY:
            self._mark, extra, what = "`", "bigquery", "BigQuery"
            options = {_PROJECT: address.host, _DATASET: address.database}
        settings = driver_settings(address)
        module = driver(f"adbc_driver_{extra}.dbapi", extra, what)

        def connect() -> Any:
            return module.connect(db_kwargs=settings, autocommit=True)

        super().__init__(address.name, module, connect, options=options)

    def columns(self, relation: str) -> tuple[SqlColumn, ...]:
        """Return the columns of what stands after FROM, by the types that the service declares."""
        if not stays_enclosed(relation, self._dialect):
            text = f"a `query` for the database `{self.place}` is not one SELECT that can be read without doubt"
            advice = "no `;`, no comments but `--` and `/* */`, no backslashes: a view has no such limits"
            raise fault("PPF477", text, advice)
        return tuple(map(self._column, self._schema(f"SELECT * FROM {relation} AS q LIMIT 0")))  # noqa: S608

    def rows(self, columns: Sequence[SqlColumn], relation: str) -> Iterator[pa.RecordBatch]:
        """Yield the rows as they come. Raises DataError for a second table."""
        if self._read not in (None, relation):
            text = f"two tables of the database `{self.place}` cannot be read as they were at one moment"
            raise fault("PPF477", text, "join them in one `query:`, or copy them into a database with snapshots")
        self._read = relation
        listed = ", ".join(f"{c.expression} AS {quoted(c.name, self._mark)}" for c in columns) or "1 AS nothing"
        schema = no_rows(columns).schema
        for batch in self._batches(f"SELECT {listed} FROM {relation} AS q"):  # noqa: S608
            yield self._plain(batch, columns, schema)

    def _column(self, field: pa.Field) -> SqlColumn:
        kind = _plain_type(field.type)
        if kind is None:
            return SqlColumn(field.name, None, str(field.type).partition("<")[0])
        return SqlColumn(field.name, f"q.{quoted(field.name, self._mark)}", type=kind)

    def _plain(self, batch: pa.RecordBatch, columns: Sequence[SqlColumn], schema: pa.Schema) -> pa.RecordBatch:
        arrays = []
        for column, array in zip(columns, batch.columns, strict=False):
            try:
                arrays.append(array if array.type == column.type else array.cast(column.type))
            except pa.ArrowException:
                text = (
                    f"column `{column.name}` of the database `{self.place}` has values that no cell of its type holds"
                )
                raise fault("PPF480", text, "moments are held to the microsecond: CAST it in a `query:`") from None
        return pa.RecordBatch.from_arrays(arrays, schema=schema)

    def _fault(self, error: Exception) -> PpdmError:
        text, connected = str(error).lower(), self._connection is not None
        state = next((state for words, state in _KINDS if words in text), None)
        if state is None and any(words in text for words in ("x509:", "tls:")):
            return DATABASE_FAULTS.of_kind(self.place, ENCRYPTION, "cannot be reached by an encrypted connection")
        if state is not None or any(words in text for words in _LOST):
            return DATABASE_FAULTS.of_state(self.place, state, connected=connected)
        return DATABASE_FAULTS.of_kind(self.place, FAILED, "failed")


def _plain_type(kind: pa.DataType) -> pa.DataType | None:
    """Return what cells become: numbers, days, moments to the microsecond, texts and lists of them; else None."""
    if pa.types.is_boolean(kind) or pa.types.is_date32(kind):
        return kind
    if pa.types.is_integer(kind):
        return pa.int64()
    if pa.types.is_floating(kind):
        return pa.float64()
    if pa.types.is_decimal(kind):
        return pa.int64() if kind.scale == 0 and kind.precision <= _WHOLE else pa.string()
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", None if kind.tz is None else "UTC")
    if pa.types.is_time(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return pa.string()
    if pa.types.is_list(kind) and pa.types.is_string(kind.value_type):
        return kind
    return None
