"""PostgreSQL, through ADBC: rows come as Arrow batches, by COPY in its binary form."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import pyarrow as pa

from ppdm_flow.core.addresses.server import ServerAddress
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.core.texts.sql_names import quoted
from ppdm_flow.sdk.databases.faults import server_fault, told
from ppdm_flow.sdk.databases.postgresql import connect, state_after
from ppdm_flow.sources.sql.session import SqlColumn

_BEGIN = (
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    "SET LOCAL statement_timeout = 0",
    "SET LOCAL idle_in_transaction_session_timeout = 0",
    "SET LOCAL synchronize_seqscans = off",
    "SET LOCAL max_parallel_workers_per_gather = 0",
    "SET LOCAL DateStyle = 'ISO, YMD'",
    "SET LOCAL IntervalStyle = 'iso_8601'",
    "SET LOCAL TimeZone = 'UTC'",
)
"""No limit of the role ends the reading, and the same rows come in the same order."""
_PLAIN = ("bool", "int2", "int4", "int8", "float4", "float8", "text", "varchar")
_MOMENTS = ("date", "timestamp", "timestamptz", "time")
_AS_THEY_ARE = frozenset((*_PLAIN, *_MOMENTS))
_WORDS = ("numeric", "bpchar", "name", "char", "uuid", "json", "jsonb", "xml", "citext", "interval", "timetz")
_ADDRESSES = ("inet", "cidr", "macaddr", "macaddr8", "bit", "varbit")
_TEXTS = frozenset((*_WORDS, *_ADDRESSES))
_CASTS = {"oid": "bigint", "money": "numeric"}
_TYPES = """
WITH RECURSIVE base AS (
    SELECT oid AS asked, oid, typtype, typbasetype FROM pg_catalog.pg_type WHERE oid IN ({oids})
    UNION ALL
    SELECT b.asked, t.oid, t.typtype, t.typbasetype
    FROM base b JOIN pg_catalog.pg_type t ON t.oid = b.typbasetype WHERE b.typtype = 'd'
)
SELECT b.asked::bigint, t.typname::text, t.typtype::text, pg_catalog.format_type(b.asked, NULL), e.typtype::text,
    e.typname::text
FROM base b JOIN pg_catalog.pg_type t ON t.oid = b.oid LEFT JOIN pg_catalog.pg_type e ON e.oid = t.typelem
WHERE b.typtype <> 'd'
"""


class PostgresSession:
    """One transaction, in which every statement sees the same rows."""

    def __init__(self, address: ServerAddress) -> None:
        self.place = address.name
        self._driver, self._connection = connect(address)
        try:
            for statement in _BEGIN:
                self._ask(statement)
        except BaseException:
            self.close()
            raise

    def columns(self, relation: str) -> tuple[SqlColumn, ...]:
        """Return the columns of what stands after FROM, by the types that the server declares."""
        names = self._ask(f"SELECT * FROM {relation} AS q LIMIT 0").schema.names  # noqa: S608
        if not names or len(set(names)) < len(names):
            return tuple(SqlColumn(name, quoted(name)) for name in names)
        asked = ", ".join(f"pg_catalog.pg_typeof(q.{quoted(name)})::oid::bigint" for name in names)
        empty = f"(SELECT * FROM {relation} AS p LIMIT 0) AS q"  # noqa: S608
        found = self._ask(f"SELECT {asked} FROM (SELECT 1) AS one LEFT JOIN {empty} ON true")  # noqa: S608
        oids = [column[0].as_py() for column in found.columns]
        types = self._types(oids)
        return tuple(_column(name, types[oid]) for name, oid in zip(names, oids, strict=True))

    def rows(self, columns: Sequence[SqlColumn], relation: str) -> Iterator[pa.RecordBatch]:
        """Yield the rows as they come from the server."""
        listed = ", ".join(f"{c.expression} AS {quoted(c.name)}" for c in columns)
        with self._guarded(), self._connection.cursor() as cursor:
            cursor.execute(f"SELECT {listed} FROM {relation} AS q")  # noqa: S608
            reader = cursor.fetch_record_batch()
            yield pa.RecordBatch.from_pylist([], schema=reader.schema)
            yield from reader

    def close(self) -> None:
        """Hang up; nothing was written."""
        with contextlib.suppress(Exception):
            self._connection.close()

    def _types(self, oids: Sequence[int]) -> Mapping[int, Mapping[str, Any]]:
        listed = ", ".join(str(oid) for oid in dict.fromkeys(oids))
        rows = self._ask(_TYPES.format(oids=listed))
        keys = ("oid", "base", "kind", "shown", "of_kind", "of")
        cells = zip(*(column.to_pylist() for column in rows.columns), strict=True)
        return {int(row[0]): dict(zip(keys, row, strict=True)) for row in cells}

    def _ask(self, statement: str) -> pa.Table:
        with self._guarded(), self._connection.cursor() as cursor:
            cursor.execute(statement)
            return cursor.fetch_arrow_table() if cursor.description is not None else pa.table({})

    def _guarded(self) -> AbstractContextManager[None]:
        return told(self._fault)

    def _fault(self, error: Exception) -> PpdmError | None:
        if not isinstance(error, self._driver.Error | pa.ArrowException | OSError):
            return None
        state = getattr(error, "sqlstate", None) or state_after(self._connection)
        return server_fault(self.place, state, connected=True)


def _column(name: str, kind: Mapping[str, Any]) -> SqlColumn:
    base, own = kind["base"], quoted(name)
    if kind["kind"] == "e" or base in _TEXTS:
        return SqlColumn(name, f"q.{own}::text")
    if base in _AS_THEY_ARE:
        return SqlColumn(name, f"q.{own}")
    if base in _CASTS:
        return SqlColumn(name, f"q.{own}::{_CASTS[base]}::text")
    if base.startswith("_") and (kind["of_kind"] == "e" or kind["of"] in _AS_THEY_ARE | _TEXTS):
        return SqlColumn(name, f"q.{own}::text[]")
    return SqlColumn(name, None, str(kind["shown"]))
