"""SQLite, through ADBC: a cell may be of any type there, so the cells themselves are looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote

import pyarrow as pa

from ppdm_flow.core.errors import PpdmError
from ppdm_flow.core.texts import quoted, table_parts
from ppdm_flow.sdk.databases.connection import AdbcConnection
from ppdm_flow.sdk.databases.faults import driver, fault, machine_fault

_TYPES = ("integer", "real", "text", "blob")
_ROWS = 1 << 16
_EXACT = 1 << 53
_AT_ONCE = 300
"""Columns whose cells are looked at by one statement: SQLite has a limit of 2,000 results."""
_MIXED = "CASE typeof({0}) WHEN 'real' THEN printf('%!.17g', {0}) ELSE CAST({0} AS TEXT) END"
_ARROW = {"integer": pa.int64(), "real": pa.float64(), "text": pa.string()}
_SEEDS = {_ARROW["integer"]: "0", _ARROW["real"]: "0.0", _ARROW["text"]: "''"}
_SEEN = {
    "no such table": "has no such table",
    "no such column": "has no such column",
    "no such function": "has no such function",
}


class SqliteSession(AdbcConnection):
    """One read transaction."""

    def __init__(self, path: Path) -> None:
        module = driver("adbc_driver_sqlite.dbapi", "sql", "SQLite")
        uri = f"file:{quote(str(path.resolve()))}?mode=ro"
        options = {"adbc.sqlite.query.batch_rows": str(_ROWS)}
        super().__init__(path.name, module, lambda: module.connect(uri, autocommit=True), ("BEGIN",), options)

    def columns(self, relation: str) -> tuple[SqlColumn, ...]:
        """Return the columns, by the types that their cells have."""
        names = self._schema(f"SELECT * FROM {relation} LIMIT 0").names  # noqa: S608
        columns: list[SqlColumn] = []
        for start in range(0, len(names), _AT_ONCE):
            columns += self._looked_at(names[start : start + _AT_ONCE], relation)
        return tuple(columns)

    def rows(self, columns: Sequence[SqlColumn], relation: str) -> Iterator[pa.RecordBatch]:
        """Yield the rows. A first row of our own tells the driver the types, which it takes from the first rows."""
        seeds = ", ".join(f"{_SEEDS[c.type]} AS {quoted(c.name)}" for c in columns)
        listed = ", ".join(str(c.expression) for c in columns)
        batches = self._batches(f"SELECT {seeds} UNION ALL SELECT {listed} FROM {relation}")  # noqa: S608
        yield next(batches).slice(1)
        yield from batches

    def _looked_at(self, names: Sequence[str], relation: str) -> Iterator[SqlColumn]:
        expressions = [f"max(typeof({quoted(name)}) = '{kind}')" for name in names for kind in _TYPES]
        expressions += [f"max(abs(CASE typeof({quoted(n)}) WHEN 'integer' THEN {quoted(n)} / 2 END))" for n in names]
        every = ", ".join(f"{each} AS c{i}" for i, each in enumerate(expressions))
        (cells,) = self._ask(f"SELECT {every} FROM {relation}")  # noqa: S608
        for place, name in enumerate(names):
            there = [kind for kind, cell in zip(_TYPES, cells[4 * place : 4 * place + 4], strict=True) if cell]
            large = (cells[4 * len(names) + place] or 0) > _EXACT // 2
            kind, expression = _expression(quoted(name), there, large=large)
            yield SqlColumn(name, expression, "" if expression is not None else "BLOB", _ARROW[kind])

    def _fault(self, error: Exception) -> PpdmError:
        said = str(error)
        for words, text in _SEEN.items():
            if words in said:
                return fault("PPF477", f"the database `{self.place}` {text}")
        if "syntax error" in said or "incomplete input" in said:
            return fault(
                "PPF477", f"the database `{self.place}` does not understand the statement", "`query` is one SELECT"
            )
        if "not a database" in said or "malformed" in said:
            return fault("PPF717", f"the database `{self.place}` is damaged", "`PRAGMA integrity_check` tests it")
        if "readonly" in said or "read-only" in said:
            return fault("PPF477", f"the database `{self.place}` is read, and the statement writes")
        if "locked" in said or "busy" in said:
            return machine_fault("PPF475", f"the database `{self.place}` is locked by another program")
        return fault("PPF479", f"the database `{self.place}` could not be read")


def _expression(own: str, there: Sequence[str], *, large: bool) -> tuple[str, str | None]:
    """Return the type that a column's cells can share, and what to select for it; None for bytes."""
    if "blob" in there:
        return "text", None
    if len(there) < 2:
        return there[0] if there else "text", own
    if there == ["integer", "real"] and not large:
        return "real", f"CAST({own} AS REAL)"
    return "text", _MIXED.format(own)


# What a connection to any database does for a source: say the columns of a table or query, and read them.


@dataclass(frozen=True, slots=True)
class SqlColumn:
    """A column of a table or query. ``expression`` is what is selected for it; None where its type is ``refused``.

    ``type`` is what comes, where the driver has to be told.
    """

    name: str
    expression: str | None
    refused: str = ""
    type: pa.DataType = field(default_factory=pa.string)


class Session(Protocol):
    """One read-only transaction. Everything raises PpdmError, without what the server says of values."""

    def columns(self, relation: str) -> tuple[SqlColumn, ...]:
        """Return the columns of what stands after FROM."""
        ...

    def rows(self, columns: Sequence[SqlColumn], relation: str) -> Iterator[pa.RecordBatch]:
        """Yield the rows, all batches with one schema; of a table without rows one that is empty."""
        ...

    def close(self) -> None:
        """End the transaction and hang up."""
        ...


def no_rows(columns: Sequence[SqlColumn]) -> pa.RecordBatch:
    """Return a batch of the types that come, without rows."""
    return pa.RecordBatch.from_pylist([], schema=pa.schema([(c.name, c.type) for c in columns]))


def fetched(
    cursor: Any, columns: Sequence[SqlColumn], size: int, array: Callable[[SqlColumn, Sequence[Any]], pa.Array]
) -> Iterator[pa.RecordBatch]:
    """Yield what a cursor of a DB-API driver has, ``size`` rows at a time, each column made by ``array``."""
    schema = no_rows(columns).schema
    while rows := cursor.fetchmany(size):
        cells = list(zip(*rows, strict=True))[: len(columns)]
        yield pa.RecordBatch.from_arrays(list(map(array, columns, cells)), schema=schema)


def relation(table: str | None, query: str | None, mark: str = '"') -> str:
    """Return what stands after FROM: the table, with its schema, or the statement in parentheses."""
    if table is not None:
        return ".".join(quoted(part, mark) for part in table_parts(table))
    return f"({(query or '').strip().rstrip(';').rstrip()}\n)"
