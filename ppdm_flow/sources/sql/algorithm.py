"""A table or query of a database: copied once into a private Parquet file, and read from there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ppdm_flow.core.addresses import BIGQUERY, MSSQL, MYSQL, WAREHOUSES, ServerAddress, database_address
from ppdm_flow.core.roles import AttributeType
from ppdm_flow.core.texts import quoted, table_parts
from ppdm_flow.sdk.databases.faults import fault, outside_calendar, refused_type
from ppdm_flow.sdk.private_file import PrivateFile
from ppdm_flow.sdk.storage import Snapshots
from ppdm_flow.sources.faults import distinct, empty, unreadable
from ppdm_flow.sources.parquet.algorithm import ParquetSource
from ppdm_flow.sources.parquet.spec import ParquetSourceParams
from ppdm_flow.sources.sql.spec import SqlParams
from ppdm_flow.sources.sql.sqlite_file import Session, SqlColumn, relation

_SQLITE = b"SQLite format 3\x00"
_DUCKDB = b"DUCK"
_CALENDAR = {
    pa.date32(): (-719_162, 2_932_896),
    **{pa.timestamp("us", zone): (-719_162 * 86_400_000_000, 2_932_897 * 86_400_000_000 - 1) for zone in (None, "UTC")},
}
"""The first and the last day, or microsecond, of the years 1 to 9999."""


class SqlSource:
    """A table or query. Raises PluginError where the driver is missing."""

    def __init__(self, params: SqlParams, path: Path) -> None:
        self.params = params
        self.path = path
        self._snapshots: Snapshots | None = None
        self._private: PrivateFile | None = None
        self._copy: ParquetSource | None = None

    def names(self) -> tuple[str, ...]:
        """Return the column names. Raises DataError where the table is not there, or two names are the same."""
        return distinct(self.path, tuple(column.name for column in self._columns))

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of the copy. Raises DataError, naming the column, where a type has no text."""
        return self.typed_batches(columns, {})

    def typed_batches(self, columns: Sequence[str], types: Mapping[str, AttributeType]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of the copy; numbers and moments of the columns in ``types`` stay what they are."""
        if self._copy is None:
            self.copy(columns, lambda _rows: None)
        copy = self._copy
        assert copy is not None  # noqa: S101  # it was made just now
        yield from copy.typed_batches(columns, types)

    def join(self, snapshots: Snapshots) -> None:
        """Read in the transaction that these connections share."""
        self._snapshots = snapshots
        self.__dict__.pop("_columns", None)

    def copy(self, columns: Sequence[str], look: Callable[[int], None]) -> Path:
        """Copy these columns. Raises DataError for a type without a text, and for dates outside the calendar."""
        known = {column.name: column for column in self._columns}
        wanted = [known[name] for name in columns]
        for column in wanted:
            if column.expression is None:
                raise refused_type(self._place, column.name, column.refused)
        private = PrivateFile()
        snapshots = self._snapshots or Snapshots()
        try:
            batches = self._session(snapshots).rows(wanted, self._relation)
            _write(private.path, self._checked(batches), look)
        finally:
            if snapshots is not self._snapshots:
                snapshots.close()
        self._private, self._copy = private, ParquetSource(ParquetSourceParams(), private.path)
        return private.path

    @cached_property
    def _columns(self) -> tuple[SqlColumn, ...]:
        snapshots = self._snapshots or Snapshots()
        try:
            return self._session(snapshots).columns(self._relation)
        finally:
            if snapshots is not self._snapshots:
                snapshots.close()

    @cached_property
    def _address(self) -> ServerAddress | None:
        return None if self.params.url is None else database_address(self.params.url)

    @property
    def _place(self) -> str:
        return self.path.name if self._address is None else self._address.name

    @property
    def _relation(self) -> str:
        address = self._address
        mark = "`" if address is not None and address.dialect in (MYSQL, BIGQUERY) else '"'
        table = self.params.table
        if table is not None and address is not None and address.dialect == BIGQUERY and len(table_parts(table)) == 1:
            table = f"{quoted(address.database)}.{quoted(table_parts(table)[0])}"
        return relation(table, self.params.query, mark)

    def _session(self, snapshots: Snapshots) -> Session:
        key = self.params.url or str(self.path.resolve())
        session: Session = snapshots.joined(key, self._connected)
        return session

    def _connected(self) -> Session:
        address = self._address
        if address is None:
            return _file_session(self.path)
        if address.dialect in WAREHOUSES:
            from ppdm_flow.sources.sql.warehouse import WarehouseSession  # noqa: PLC0415  # each imports its own driver

            return WarehouseSession(address)
        if address.dialect == MSSQL:
            from ppdm_flow.sources.sql.mssql import MssqlSession  # noqa: PLC0415

            return MssqlSession(address)
        if address.dialect == MYSQL:
            from ppdm_flow.sources.sql.mysql import MysqlSession  # noqa: PLC0415

            return MysqlSession(address)
        from ppdm_flow.sources.sql.postgresql import PostgresSession  # noqa: PLC0415

        return PostgresSession(address)

    def _checked(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield batches of plain types. Raises DataError for moments that are infinite."""
        for batch in batches:
            plain = [_plain(column) for column in batch.columns]
            for name, column in zip(batch.schema.names, plain, strict=True):
                if column.type in _CALENDAR and not _in_calendar(column):
                    raise outside_calendar(self._place, name)
            yield pa.RecordBatch.from_arrays(plain, names=batch.schema.names)


def _file_session(path: Path) -> Session:
    """Open a database file, SQLite or DuckDB, told apart by how it begins. Raises DataError where it is none."""
    try:
        with path.open("rb") as file:
            head = file.read(32)
    except OSError as error:
        raise unreadable(path, error) from None
    if not head:
        raise empty(path)
    if head.startswith(_SQLITE):
        from ppdm_flow.sources.sql.sqlite_file import SqliteSession  # noqa: PLC0415

        return SqliteSession(path)
    if head[8:].startswith(_DUCKDB):
        from ppdm_flow.sources.sql.duckdb_file import DuckSession  # noqa: PLC0415

        return DuckSession(path)
    raise fault("PPF717", f"`{path}` is no database file", "SQLite and DuckDB files can be read; is it another format?")


def _plain(column: pa.Array) -> pa.Array:
    return column.storage if isinstance(column, pa.ExtensionArray) else column


def _in_calendar(column: pa.Array) -> bool:
    first, last = _CALENDAR[column.type]
    raw = pa.int32() if pa.types.is_date32(column.type) else pa.int64()
    ends = pc.min_max(column.view(raw))
    low, high = ends["min"].as_py(), ends["max"].as_py()
    return low is None or (first <= low and high <= last)


def _write(file: Path, batches: Iterator[pa.RecordBatch], look: Callable[[int], None]) -> None:
    """Write batches as they come; while one is written, the next is fetched."""
    rows, writer, pending = 0, None, None
    with ThreadPoolExecutor(1) as pool:
        try:
            for batch in batches:
                if writer is None:
                    writer = pq.ParquetWriter(file, batch.schema, compression="lz4", write_statistics=False)
                if pending is not None:
                    pending.result()
                pending = pool.submit(writer.write_batch, batch)
                rows += batch.num_rows
                look(rows)
            if pending is not None:
                pending.result()
        finally:
            if writer is not None:
                pool.submit(writer.close).result()
