"""DuckDB for tests of queries: results stay in it as tables of its own, which is quicker than Arrow for small ones."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import duckdb

UNUSED_OPTIMIZERS = (
    "SET VARIABLE unused = (SELECT string_agg(name) FROM duckdb_optimizers() WHERE name <> 'filter_pushdown');"
    "SET disabled_optimizers = getvariable('unused')"
)
"""Plans of small tables take longer to be improved than to be run, unless conditions were not to make joins."""


class Kept:
    """A table that the database keeps; ``num_rows`` is how many rows it has, as Arrow says it."""

    def __init__(self, database: Database, name: str, num_rows: int) -> None:
        self.database, self.name, self.num_rows = database, name, num_rows

    @property
    def columns(self) -> list[Any]:
        """Its columns, as Arrow's."""
        return self.database.connection.sql(f"SELECT * FROM {self.name}").to_arrow_table().columns


class Database:
    """What the second route asks for."""

    def __init__(self) -> None:
        self.connection = duckdb.connect()
        self.connection.execute("SET threads = 1")
        self.connection.execute(UNUSED_OPTIMIZERS)
        self.made: dict[int, tuple[str, Any]] = {}
        self.number = 0

    def rows(self, query: str, parameters: Sequence[Any] = (), tables: Mapping[str, Any] = {}) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        return self.connection.execute(self._named(query, tables)).fetchall()

    def table(self, query: str, parameters: Sequence[Any] = (), tables: Mapping[str, Any] = {}) -> Kept:
        """Keep the result of a query."""
        name = self._next()
        ((rows,),) = self.connection.execute(f"CREATE TEMP TABLE {name} AS {self._named(query, tables)}").fetchall()
        return Kept(self, name, rows)

    def _next(self) -> str:
        self.number += 1
        return f"kept{self.number}"

    def _named(self, query: str, tables: Mapping[str, Any]) -> str:
        names = {key: value.name if isinstance(value, Kept) else self._taken(value) for key, value in tables.items()}
        return re.sub(r"\w+", lambda found: names.get(found[0], found[0]), query)

    def _taken(self, table: Any) -> str:
        if id(table) not in self.made:
            name = self._next()
            self.connection.register("arrow_table", table)
            self.connection.execute(f"CREATE TEMP TABLE {name} AS SELECT * FROM arrow_table")
            self.made[id(table)] = name, table
        return self.made[id(table)][0]
