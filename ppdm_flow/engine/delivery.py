"""Releases that become tables of databases."""

from __future__ import annotations

import contextlib
import hashlib
import re
import secrets
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.core.addresses import MYSQL, POSTGRESQL, AddressError, ServerAddress, database_address
from ppdm_flow.core.errors import DataError, PpdmError
from ppdm_flow.core.roles import AttributeType
from ppdm_flow.core.texts import quoted, table_parts
from ppdm_flow.engine.faults import data_fault, run_fault, wrap_plugin_errors
from ppdm_flow.engine.opening.opening import open_released
from ppdm_flow.plan.definition import ReleaseNode
from ppdm_flow.sdk.databases.faults import machine_fault
from ppdm_flow.sdk.databases.mysql import MysqlConnection, error_number
from ppdm_flow.sdk.databases.postgresql import PostgresConnection
from ppdm_flow.sdk.storage import Source, TypedSource

_PIECE = 1 << 16
"""Rows that are compared at once."""
Batches = Generator[pa.RecordBatch, None, None]
"""Rows that are there as long as nobody closes it."""


# Released files become tables: staged and compared cell by cell before the release is out, in their places after.


@dataclass(slots=True)
class Delivery:
    """Tables that are staged, and wait for the release to be out. ``run`` is the name of the run's directory."""

    run: str
    connections: dict[str, tuple[ServerAddress, TableWriter]] = field(default_factory=dict)
    tables: list[str] = field(default_factory=list)

    def commit(self) -> None:
        """Let all tables take their places. Raises RunError (PPF484) where a server does not answer that it did."""
        for address, connection in self.connections.values():
            try:
                connection.commit()
            except PpdmError as error:
                code = error.diagnostics[0].code
                text = f"the files of run `{self.run}` are released, and the database `{address.name}` did not confirm"
                advice = f"`ppdm-flow deliver RUN` puts the tables in their places, if they are not ({code})"
                raise run_fault("PPF484", f"{text} their tables", advice=advice) from None


@contextmanager
def staged(policy: str, run: str, files: Sequence[tuple[ReleaseNode, Path]]) -> Iterator[Delivery]:
    """Fill the table of each release that becomes one, and read it back; leaving takes back what was not committed.

    Raises DataError where a table cannot hold what the file has, RunError where a server fails; nothing is in its
    place then.
    """
    delivery = Delivery(run)
    with ExitStack() as stack:
        prepared: list[tuple[TableWriter, DeliveryTarget]] = []
        for release, file in files:
            if release.into is None:
                continue
            address = _address(release.into.url)
            connection = _connected(delivery, address, release.into.url, stack)
            target = _target(policy, run, release)
            _fill(connection, address, target, release, file)
            prepared.append((connection, target))
            delivery.tables.append(f"{address.name}: {target.shown}")
        for connection, target in prepared:
            connection.prepare(target)
        yield delivery


def _address(url: str) -> ServerAddress:
    try:
        address = database_address(url)
    except AddressError as error:
        raise data_fault("PPF471", f"the URL of a table cannot be used: {error}") from None
    if address.dialect not in (POSTGRESQL, MYSQL):
        raise data_fault("PPF471", f"tables of the database `{address.name}` are read, and not written")
    return address


def _connected(delivery: Delivery, address: ServerAddress, url: str, stack: ExitStack) -> TableWriter:
    if url not in delivery.connections:
        made: TableWriter = MysqlTables(address) if address.dialect == MYSQL else PostgresTables(address)
        stack.callback(made.close)
        delivery.connections[url] = address, made
    return delivery.connections[url][1]


def _target(policy: str, run: str, release: ReleaseNode) -> DeliveryTarget:
    into = release.into
    assert into is not None  # noqa: S101  # who calls has looked
    *schema, name = table_parts(into.table)
    text = f"{MARK}release {release.name} of policy {policy}, run {run}"
    described = {a.name: comment(a.description) for a in release.attributes if a.description}
    return DeliveryTarget(
        schema[0] if schema else None,
        name,
        policy,
        comment(f"{text}. {release.description}" if release.description else text),
        described,
        into.indexes,
        into.grants,
    )


def _fill(
    connection: TableWriter, address: ServerAddress, target: DeliveryTarget, release: ReleaseNode, file: Path
) -> None:
    schema, rows = _rows_of(release, file)
    connection.stage(target, schema, rows)
    _, expected = _rows_of(release, file)
    if not same_rows(expected, connection.read(target, schema), schema):
        raise unfit(address.name, target, "what is read back is not what the release has")


def _rows_of(release: ReleaseNode, file: Path) -> tuple[pa.Schema, Batches]:
    """Return the columns of a released file, and its rows: numbers and moments where the file has them."""
    with wrap_plugin_errors(f"release `{release.name}`"):
        source = open_released(release, file)
        names = tuple(a.name for a in release.attributes) if release.partition_by else source.names()
        types = {a.name: a.type for a in release.attributes if a.type is not AttributeType.TEXT}
        batches = _plain(_batches(source, names, types), {n: types[n] for n in release.partition_by if n in types})
        first = next(batches, None)
    if first is None:
        first = pa.RecordBatch.from_pylist([], schema=pa.schema([(name, pa.string()) for name in names]))
    schema = first.schema

    def all_rows() -> Batches:
        yield first
        with wrap_plugin_errors(f"release `{release.name}`"):
            for batch in batches:
                yield batch.cast(schema)

    return schema, all_rows()


def _batches(source: Source, names: Sequence[str], types: Mapping[str, AttributeType]) -> Iterator[pa.RecordBatch]:
    return source.typed_batches(names, types) if isinstance(source, TypedSource) else source.batches(names)


_DECLARED = {
    AttributeType.INTEGER: pa.int64(),
    AttributeType.FLOAT: pa.float64(),
    AttributeType.DATE: pa.date32(),
    AttributeType.TIMESTAMP: pa.timestamp("us"),
}


def _plain(batches: Iterator[pa.RecordBatch], named: Mapping[str, AttributeType]) -> Iterator[pa.RecordBatch]:
    """Yield batches of texts, 64-bit numbers, days and moments, without dictionaries.

    ``named`` are the types of columns that come as the texts in names of folders.
    """
    for batch in batches:
        columns = [
            column.cast(_kind(column.type, named.get(name)))
            for name, column in zip(batch.schema.names, batch.columns, strict=True)
        ]
        yield pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _kind(kind: pa.DataType, declared: AttributeType | None) -> pa.DataType:
    if declared is not None:
        return _DECLARED[declared]
    if pa.types.is_integer(kind):
        return pa.int64()
    if pa.types.is_floating(kind):
        return pa.float64()
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", kind.tz)
    return pa.date32() if pa.types.is_date(kind) else pa.string()


def same_rows(one: Batches, other: Batches, schema: pa.Schema) -> bool:
    """Whether two streams have the same rows in the same order, however they are cut into batches."""
    with contextlib.closing(one), contextlib.closing(other):
        pieces = zip_longest(_pieces(one, schema), _pieces(other, schema), fillvalue=schema.empty_table())
        return all(left.equals(right) for left, right in pieces)


def _pieces(batches: Batches, schema: pa.Schema) -> Iterator[pa.Table]:
    """Yield the rows in tables of one size; what is left at the end, if only nothing, is the last."""
    rest = schema.empty_table()
    for batch in batches:
        rest = pa.concat_tables([rest, pa.Table.from_batches([batch.replace_schema_metadata(None)])])
        while rest.num_rows >= _PIECE:
            yield rest.slice(0, _PIECE)
            rest = rest.slice(_PIECE)
    yield rest


# A table that a release becomes, and what a connection does for it.


MARK = "ppdm-flow: "
"""How the comment of a table begins that a release made."""
_LONGEST_COMMENT = 1024


@dataclass(frozen=True, slots=True)
class DeliveryTarget:
    """A table to be. ``schema`` is None where the database says which; ``comments`` are those of columns.

    It replaces a table that a release of the same ``policy`` made, and no other one. ``staging`` is the name under
    which it is filled.
    """

    schema: str | None
    name: str
    policy: str = ""
    comment: str = MARK
    comments: Mapping[str, str] = field(default_factory=dict)
    indexes: tuple[tuple[str, ...], ...] = ()
    grants: tuple[str, ...] = ()
    staging: str = field(default_factory=lambda: f"ppdm_flow_{secrets.token_hex(8)}")

    def may_replace(self, comment: object) -> bool:
        """Whether a table with this comment may be replaced."""
        return re.match(rf"{MARK}release \S+ of policy {re.escape(self.policy)}, run ", str(comment)) is not None

    @property
    def shown(self) -> str:
        """Its name, for messages."""
        return self.name if self.schema is None else f"{self.schema}.{self.name}"


class TableWriter(ABC):
    """Fills tables over a connection and puts them in their places. Everything raises PpdmError."""

    place: str
    filled: DeliveryTarget | None = None
    """The table whose faults say that it cannot be made of the release."""

    @abstractmethod
    def stage(self, target: DeliveryTarget, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> None:
        """Fill a table under its staging name. Raises DataError where another one than a release's has its place."""

    @abstractmethod
    def read(self, target: DeliveryTarget, schema: pa.Schema) -> Batches:
        """Yield the rows of a staged table, in the order that they were written in."""

    @abstractmethod
    def prepare(self, target: DeliveryTarget) -> None:
        """Do all that may fail before the tables take their places."""

    @abstractmethod
    def commit(self) -> None:
        """Let all tables that were prepared take their places, in one step."""

    @abstractmethod
    def close(self) -> None:
        """Take back what did not take its place, and hang up."""

    @contextmanager
    def filling(self, target: DeliveryTarget) -> Iterator[None]:
        """Take the faults within for those of a table."""
        self.filled = target
        try:
            yield
        finally:
            self.filled = None


def comment(text: str) -> str:
    """Return the comment of a table or a column, on one line."""
    return " ".join(text.split())[:_LONGEST_COMMENT]


def foreign_table(place: str, target: DeliveryTarget) -> DataError:
    """Report an existing table that no release of the policy made."""
    text = f"the database `{place}` has a table `{target.shown}` that no release of this policy made: it stays"
    return data_fault("PPF483", text, advice="name another table, or drop that one yourself")


def unfit(place: str, target: DeliveryTarget, why: str) -> DataError:
    """Say that a table cannot be made of a release."""
    text = f"table `{target.shown}` of the database `{place}`: {why}"
    return data_fault("PPF482", text, advice="nothing was released")


# Tables of MySQL and MariaDB, which have no transactions for tables: all take their places by one RENAME.


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
        existing = self._ask(_THERE, (target.name,))
        if existing and (existing[0][0] != "BASE TABLE" or not target.may_replace(existing[0][1])):
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


# Tables of PostgreSQL: filled, read back and put in their places in one transaction.


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
_POSTGRESQL_THERE = """
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
        query = _POSTGRESQL_THERE.format(schema=_text(target.schema or self._own), name=_text(target.name))
        for kind, comment in self._ask(query):
            if kind != "r" or not target.may_replace(comment):
                raise foreign_table(self.place, target)

    def _staging(self, target: DeliveryTarget) -> str:
        return f"{quoted(target.schema or self._own)}.{quoted(target.staging)}"

    def _fault(self, error: Exception) -> PpdmError:
        state = None if self.filled is None else self._state(error)
        if self.filled is not None and state in _POSTGRESQL_UNFIT:
            return unfit(self.place, self.filled, _POSTGRESQL_UNFIT[state])
        return super()._fault(error)


_POSTGRESQL_UNFIT = {
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
    """Return a text as an SQL literal that is read alike however the server treats backslashes."""
    doubled = text.replace("'", "''").replace("\\", "\\\\")
    return f"E'{doubled}'"
