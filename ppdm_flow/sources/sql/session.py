"""What a connection to any database does for a source: say the columns of a table or query, and read them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import pyarrow as pa


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


def quoted(name: str, mark: str = '"') -> str:
    """Return a name as an identifier of SQL."""
    return f"{mark}{name.replace(mark, mark * 2)}{mark}"


def relation(table: str | None, query: str | None, mark: str = '"') -> str:
    """Return what stands after FROM: the table, with its schema, or the statement in parentheses."""
    if table is not None:
        return ".".join(quoted(part, mark) for part in _parts(table))
    return f"({(query or '').strip().rstrip(';').rstrip()}\n)"


def _parts(table: str) -> list[str]:
    """Return schema and name; dots inside double quotes are part of a name."""
    parts, inside = [""], False
    for character in table:
        if character == '"':
            inside = not inside
        elif character == "." and not inside:
            parts.append("")
        else:
            parts[-1] += character
    return parts
