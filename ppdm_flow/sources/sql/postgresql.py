"""PostgreSQL, through ADBC: rows come as Arrow batches, by COPY in its binary form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from ppdm_flow.core.addresses import ServerAddress
from ppdm_flow.core.texts import quoted
from ppdm_flow.sdk.databases.postgresql import PostgresConnection
from ppdm_flow.sources.sql.sqlite_file import SqlColumn

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


class PostgresSession(PostgresConnection):
    """One transaction, in which every statement sees the same rows."""

    def __init__(self, address: ServerAddress) -> None:
        super().__init__(address, _BEGIN)

    def columns(self, relation: str) -> tuple[SqlColumn, ...]:
        """Return the columns of what stands after FROM, by the types that the server declares."""
        names = self._schema(f"SELECT * FROM {relation} AS q LIMIT 0").names  # noqa: S608
        if not names or len(set(names)) < len(names):
            return tuple(SqlColumn(name, quoted(name)) for name in names)
        type_queries = ", ".join(f"pg_catalog.pg_typeof(q.{quoted(name)})::oid::bigint" for name in names)
        empty = f"(SELECT * FROM {relation} AS p LIMIT 0) AS q"  # noqa: S608
        (oids,) = self._ask(f"SELECT {type_queries} FROM (SELECT 1) AS one LEFT JOIN {empty} ON true")  # noqa: S608
        types = self._types(oids)
        return tuple(_column(name, types[oid]) for name, oid in zip(names, oids, strict=True))

    def rows(self, columns: Sequence[SqlColumn], relation: str) -> Iterator[pa.RecordBatch]:
        """Yield the rows as they come from the server."""
        listed = ", ".join(f"{c.expression} AS {quoted(c.name)}" for c in columns)
        return self._batches(f"SELECT {listed} FROM {relation} AS q")  # noqa: S608

    def _types(self, oids: Sequence[int]) -> Mapping[int, Mapping[str, Any]]:
        listed = ", ".join(str(oid) for oid in dict.fromkeys(oids))
        keys = ("oid", "base", "kind", "shown", "of_kind", "of")
        return {int(row[0]): dict(zip(keys, row, strict=True)) for row in self._ask(_TYPES.format(oids=listed))}


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
