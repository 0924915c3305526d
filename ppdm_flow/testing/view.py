"""A view of a table in memory, and DuckDB over such tables: the two routes of an audit, for tests of plugins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.core.roles import Role
from ppdm_flow.sdk.paired_relation import PairedRelation
from ppdm_flow.tables.counts import Counts, count, merge
from ppdm_flow.tables.schema import Field, Schema
from ppdm_flow.tables.table import Table

_PAIRS = 1000
"""How many paired rows are handed out at a time."""


@dataclass(frozen=True, slots=True, eq=False)
class InMemoryView:
    """Implements :class:`ppdm_flow.sdk.view.DataView` over ``whole``, in partitions of ``partition_rows`` rows."""

    whole: Table
    schema: Schema
    partition_rows: int = 1 << 18

    @classmethod
    def of(cls, table: Table, roles: dict[str, Role] | None = None, partition_rows: int = 1 << 18) -> InMemoryView:
        """Build a view; columns without a role are insensitive."""
        known = roles or {}
        fields = tuple(Field(name, known.get(name, Role.INSENSITIVE)) for name in table.names)
        return cls(table, Schema(fields), partition_rows)

    @property
    def row_count(self) -> int:
        """The number of physical rows."""
        return len(self.whole)

    def counts(self, columns: Sequence[str]) -> Counts:
        """Count combinations, a partition at a time."""
        needed = [*columns, *([self.schema.weight] if self.schema.weight else [])]
        return merge(count(part, columns, self.schema.weight) for part in self.partitions(tuple(dict.fromkeys(needed))))

    def domain(self, column: str) -> pa.StringArray:
        """Return the values that occur in ``column``, sorted."""
        return self.whole[column].compact().categories

    def sample(self, size: int, columns: Sequence[str] | None = None) -> Table:
        """Return at most ``size`` rows, evenly spaced."""
        if size >= len(self.whole):
            return self.table(columns)
        return self.table(columns).take(np.linspace(0, len(self.whole) - 1, size).astype(np.int64))

    def table(self, columns: Sequence[str] | None = None) -> Table:
        """Return the whole table."""
        return self.whole if columns is None else self.whole.select(columns)

    def partitions(self, columns: Sequence[str] | None = None) -> Iterator[Table]:
        """Yield the partitions in order: at least one, if an empty one."""
        table = self.table(columns)
        for start in range(0, max(1, len(table)), self.partition_rows):
            yield table.take(np.arange(start, min(start + self.partition_rows, len(table))))


@dataclass(frozen=True)
class InMemoryPairs:
    """Implements :class:`ppdm_flow.sdk.view.PairedView` over two tables, whose rows are matched by their numbers."""

    original: Table
    released: Table

    def pairs(self, original: Sequence[str], released: Sequence[str]) -> Iterator[tuple[Table, Table]]:
        """Yield aligned partitions: at least one, if an empty one."""
        mine, theirs = self._matched
        for start in range(0, max(1, len(mine)), _PAIRS):
            chunk = slice(start, start + _PAIRS)
            yield self.original.select(original).take(mine[chunk]), self.released.select(released).take(theirs[chunk])

    def joint(self, original: str, released: str) -> Counts:
        """Count (original value, released value) over all rows."""
        mine, theirs = self._matched
        both = {"original": self.original[original].take(mine), "released": self.released[released].take(theirs)}
        return count(Table(both, np.arange(len(mine))), ["original", "released"])

    @property
    def _matched(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        _, mine, theirs = np.intersect1d(self.original.rows, self.released.rows, return_indices=True)
        return mine, theirs


@dataclass(frozen=True)
class InMemorySql:
    """Implements :class:`ppdm_flow.sdk.audit.Sql` over the cells of ``tables``, as text."""

    tables: Mapping[str, Table]

    def rows(self, query: str, parameters: Sequence[Any] = (), tables: Mapping[str, Any] = {}) -> list[tuple[Any, ...]]:
        """Return the result of one SELECT."""
        rows: list[tuple[Any, ...]] = self._there(tables).execute(query, list(parameters)).fetchall()
        return rows

    def table(self, query: str, parameters: Sequence[Any] = (), tables: Mapping[str, Any] = {}) -> pa.Table:
        """Return the same as an Arrow table."""
        return self._there(tables).sql(query, params=list(parameters)).to_arrow_table()

    def database(self) -> duckdb.DuckDBPyConnection:
        """Return a database of its own."""
        return duckdb.connect(config={"threads": 1})

    def _there(self, tables: Mapping[str, Any]) -> Any:
        """Return the database with these tables."""
        connection = _connection()
        for name, relation in tables.items():
            connection.register(name, relation.table if isinstance(relation, PairedRelation) else relation)
        for name, table in self.tables.items():
            cells = {n: pa.array(c.texts(), pa.string()) for n, c in table.columns.items()}
            connection.register(name, pa.table(cells))
        return connection


@cache
def _connection() -> Any:
    return duckdb.connect(config={"threads": 1})
