"""DuckDB over tables in memory: the second route of an audit, for tests of plugins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import duckdb
import pyarrow as pa

from ppdm_flow.tables.table import Table


@dataclass(frozen=True)
class InMemorySql:
    """Implements :class:`ppdm_flow.sdk.audit.Sql` over the cells of ``tables``, as text."""

    tables: Mapping[str, Table]

    def rows(self, query: str, parameters: Sequence[Any] = (), tables: Mapping[str, Any] = {}) -> list[tuple[Any, ...]]:
        """Return the result of one SELECT."""
        connection = _connection()
        for name, relation in tables.items():
            connection.register(name, relation)
        for name, table in self.tables.items():
            cells = {n: pa.array(c.texts(), pa.string()) for n, c in table.columns.items()}
            connection.register(name, pa.table(cells))
        found: list[tuple[Any, ...]] = connection.execute(query, list(parameters)).fetchall()
        return found


@cache
def _connection() -> Any:
    return duckdb.connect(config={"threads": 1})
