"""DuckDB files: Arrow batches from DuckDB itself, with everything shut that would reach beyond the file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from ppdm_flow.core.errors import PpdmError
from ppdm_flow.core.texts import quoted
from ppdm_flow.sdk.databases.connection import DatabaseConnection
from ppdm_flow.sdk.databases.duckdb import NO_FILES
from ppdm_flow.sdk.databases.faults import fault, machine_fault
from ppdm_flow.sources.sql.sqlite_file import SqlColumn

_CLOSED = {**NO_FILES, "lock_configuration": "true"}
_ROWS = 1 << 17
_READER = "to_arrow_reader"
"""As later versions call it."""
_NUMBERS = "TINYINT|SMALLINT|INTEGER|BIGINT|UTINYINT|USMALLINT|UINTEGER|UBIGINT|FLOAT|DOUBLE"
_MOMENTS = "DATE|TIME|TIMESTAMP|TIMESTAMP_S|TIMESTAMP_MS|TIMESTAMP_NS|TIMESTAMP WITH TIME ZONE"
_AS_THEY_ARE = re.compile(rf"({_NUMBERS}|{_MOMENTS}|BOOLEAN|VARCHAR|VARCHAR\[\]|ENUM\(.*\)|DECIMAL\(.*\))", re.DOTALL)
_TEXTS = re.compile(r"(HUGEINT|UHUGEINT|BIGNUM|VARINT|UUID|JSON|INTERVAL|TIME WITH TIME ZONE|BIT)")
_LISTS = re.compile(r"(UUID|ENUM\([^)]*\)|JSON)\[\]")


class DuckSession(DatabaseConnection):
    """One read transaction. Raises DataError where another program writes to the file."""

    def __init__(self, path: Path) -> None:
        def connect() -> Any:
            return duckdb.connect(str(path), read_only=True, config=_CLOSED)

        super().__init__(path.name, connect, (duckdb.Error, pa.ArrowException, OSError), ("BEGIN TRANSACTION",))

    def columns(self, relation: str) -> tuple[SqlColumn, ...]:
        """Return the columns of what stands after FROM."""
        return tuple(_column(name, kind) for name, kind, *_ in self._ask(f"DESCRIBE SELECT * FROM {relation}"))  # noqa: S608

    def rows(self, columns: Sequence[SqlColumn], relation: str) -> Iterator[pa.RecordBatch]:
        """Yield the rows, in the order that they were written in."""
        listed = ", ".join(f"{c.expression} AS {quoted(c.name)}" for c in columns)
        with self._guarded():
            selected: Any = self._connection.sql(f"SELECT {listed} FROM {relation}")  # noqa: S608
            reader = getattr(selected, _READER, selected.fetch_arrow_reader)(_ROWS)
            yield pa.RecordBatch.from_pylist([], schema=reader.schema)
            yield from reader

    def _ask(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with self._guarded():  # a cursor would be another transaction
            return list(self._connection.execute(statement, values).fetchall())

    def _fault(self, error: Exception) -> PpdmError:
        if isinstance(error, duckdb.CatalogException | duckdb.BinderException):
            what = "table" if isinstance(error, duckdb.CatalogException) else "column, or none of that type"
            return fault("PPF477", f"the database `{self.place}` has no such {what}")
        if isinstance(error, duckdb.ParserException | duckdb.InvalidInputException | duckdb.PermissionException):
            text = f"the database `{self.place}` does not understand the statement, or does not allow it"
            return fault("PPF477", text, "`query` is one SELECT, of this file alone")
        if isinstance(error, duckdb.ConversionException):
            return fault("PPF477", f"the database `{self.place}` could not convert a value as asked")
        if isinstance(error, duckdb.IOException):
            if "lock" in str(error).lower():
                return machine_fault("PPF475", f"the database `{self.place}` is open for writing elsewhere")
            return fault("PPF717", f"the database `{self.place}` cannot be read", "it is damaged or cut off")
        return fault("PPF479", f"the database `{self.place}` could not be read")


def _column(name: str, kind: str) -> SqlColumn:
    own = quoted(name)
    if _AS_THEY_ARE.fullmatch(kind):
        return SqlColumn(name, own)
    if _TEXTS.fullmatch(kind):
        return SqlColumn(name, f"{own}::VARCHAR")
    if _LISTS.fullmatch(kind):
        return SqlColumn(name, f"{own}::VARCHAR[]")
    return SqlColumn(name, None, kind.partition("(")[0])
