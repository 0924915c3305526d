"""What a connection to any database does for a source: say the columns of a table or query, and read them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import pyarrow as pa

from ppdm_flow.core.texts.sql_names import quoted, table_parts


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
