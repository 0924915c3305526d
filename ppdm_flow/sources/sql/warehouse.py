"""Snowflake and BigQuery, through ADBC: one statement, whose batches are of the types that Arrow has for them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager

import pyarrow as pa

from ppdm_flow.core.addresses.server import BIGQUERY, ServerAddress
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.core.texts.sql_names import quoted
from ppdm_flow.sdk.databases.faults import fault, told
from ppdm_flow.sdk.databases.warehouses import connect, statement_words, warehouse_fault
from ppdm_flow.sources.sql.enclosing import stays_enclosed
from ppdm_flow.sources.sql.session import SqlColumn, no_rows

_WHOLE = 18
"""Digits that every number of 64 bits holds."""


class WarehouseSession:
    """A connection that reads one table or query: what two statements see need not be of one moment."""

    def __init__(self, address: ServerAddress) -> None:
        self.place = address.name
        self._mark = "`" if address.dialect == BIGQUERY else '"'
        self._dialect = address.dialect
        self._words = statement_words(address)
        self._read: str | None = None
        self._driver, self._connection = connect(address)

    def columns(self, relation: str) -> tuple[SqlColumn, ...]:
        """Return the columns of what stands after FROM, by the types that the service declares."""
        if not stays_enclosed(relation, self._dialect):
            text = f"a `query` for the database `{self.place}` is not one SELECT that can be read without doubt"
            advice = "no `;`, no comments but `--` and `/* */`, no backslashes: a view has no such limits"
            raise fault("PPF477", text, advice)
        schema = self._asked(f"SELECT * FROM {relation} AS q LIMIT 0").schema  # noqa: S608
        return tuple(self._column(each) for each in schema)

    def rows(self, columns: Sequence[SqlColumn], relation: str) -> Iterator[pa.RecordBatch]:
        """Yield the rows as they come. Raises DataError for a second table."""
        if self._read not in (None, relation):
            text = f"two tables of the database `{self.place}` cannot be read as they were at one moment"
            raise fault("PPF477", text, "join them in one `query:`, or copy them into a database with snapshots")
        self._read = relation
        listed = ", ".join(f"{c.expression} AS {quoted(c.name, self._mark)}" for c in columns) or "1 AS nothing"
        empty = no_rows(columns)
        yield empty
        with self._guarded(), self._connection.cursor() as cursor:
            self._tell(cursor)
            cursor.execute(f"SELECT {listed} FROM {relation} AS q")  # noqa: S608
            for batch in cursor.fetch_record_batch():
                yield self._plain(batch, columns, empty.schema)

    def close(self) -> None:
        """Hang up; nothing was written."""
        with contextlib.suppress(Exception):
            self._connection.close()

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

    def _asked(self, statement: str) -> pa.Table:
        with self._guarded(), self._connection.cursor() as cursor:
            self._tell(cursor)
            cursor.execute(statement)
            return cursor.fetch_arrow_table()

    def _tell(self, cursor: object) -> None:
        if self._words:
            cursor.adbc_statement.set_options(**self._words)  # type: ignore[attr-defined]

    def _guarded(self) -> AbstractContextManager[None]:
        return told(self._fault)

    def _fault(self, error: Exception) -> PpdmError | None:
        known = isinstance(error, self._driver.Error | pa.ArrowException | OSError)
        return warehouse_fault(self.place, error) if known else None


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
