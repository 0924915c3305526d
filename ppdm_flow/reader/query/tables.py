"""Tables derived in SQL, and queries of the values that cells show together."""

# ruff: noqa: S608, E501  # long lines are SQL; all names in these queries are numbered ones of our own

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, TypeVar

import duckdb
import networkx as nx
import numpy as np
import pyarrow as pa

from ppdm_flow.reader.faults import JoinTooLargeError, NotVerifiedError

T = TypeVar("T")


MOST_ROWS = 20_000_000
"""The most rows of one table; what needs more is not verified."""


class QueryTables:
    """Tables in a database of DuckDB, by names of our own, and what SQL makes of them. Any thread may ask."""

    def __init__(self, database: duckdb.DuckDBPyConnection) -> None:
        self._connection = database.cursor()
        self._lock = Lock()
        self._names: set[str] = set()
        self._number = 0

    def __contains__(self, name: str) -> bool:
        """Whether there is such a table."""
        return name in self._names

    def keep(self, query: str, name: str = "") -> str:
        """Keep the result of a query as a table; return its name. Raises NotVerifiedError."""
        name = name or self._fresh()
        text = f"CREATE TEMP TABLE {name} AS SELECT * FROM ({query}) LIMIT {MOST_ROWS + 1}"
        if self.rows(text)[0][0] > MOST_ROWS:
            self.rows(f"DROP TABLE {name}")
            raise JoinTooLargeError
        self._names.add(name)
        return name

    def put(self, table: pa.Table, name: str = "") -> str:
        """Keep an Arrow table; return its name."""
        name = name or self._fresh()
        with self._lock:
            self._connection.register(name, table)
        self._names.add(name)
        return name

    def put_arrays(self, columns: Mapping[str, Any], name: str = "") -> str:
        """Keep arrays as a table; return its name."""
        return self.put(pa.table({k: pa.array(np.ascontiguousarray(v)) for k, v in columns.items()}), name)

    def keep_only(self, names: Collection[str]) -> None:
        """Drop all other tables."""
        left = self._names.difference(names)
        self._names -= left
        with self._lock:
            for name in left:
                self._connection.unregister(name)
        self.rows("".join(f"DROP TABLE IF EXISTS {name};" for name in left) or "SELECT 1")

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query. Raises NotVerifiedError."""
        return self._ask(lambda connection: connection.execute(query).fetchall())

    def table(self, query: str) -> pa.Table:
        """Return the result of a query as an Arrow table. Raises NotVerifiedError."""
        return self._ask(lambda connection: connection.sql(query).to_arrow_table())

    def columns(self, query: str) -> list[Any]:
        """Return the columns of a query as arrays. Raises NotVerifiedError."""
        return [c.to_numpy() for c in self.table(query).columns]

    def _ask(self, ask: Callable[[duckdb.DuckDBPyConnection], T]) -> T:
        """Return an answer. DuckDB's messages are not quoted: they may hold values."""
        try:
            with self._lock:
                return ask(self._connection)
        except duckdb.OutOfMemoryException:
            raise NotVerifiedError("it needs more memory than there is") from None
        except duckdb.Error as error:
            raise RuntimeError(f"a query failed: {type(error).__name__}") from None

    def _fresh(self) -> str:
        self._number += 1
        return f"t{self._number}"


@dataclass(frozen=True, slots=True)
class Atom:
    """Cells of one column of one row: the expression of the cell, what the column shows, and the variables of that."""

    cell: str
    shown: str
    values: tuple[tuple[str, str], ...]


def connected_atoms(atoms: Iterable[Atom], bound: Iterable[str] = ()) -> list[list[Atom]]:
    """Return the atoms that hang together by variables that are not bound."""
    graph: nx.Graph[Any] = nx.Graph()
    fixed = set(bound)
    every = list(atoms)
    for i, atom in enumerate(every):
        graph.add_node(i)
        graph.add_edges_from((i, variable) for _, variable in atom.values if variable not in fixed)
    return [
        [every[i] for i in sorted(n for n in part if isinstance(n, int))] for part in nx.connected_components(graph)
    ]


def assignments(atoms: Sequence[Atom], source: str, wanted: Mapping[str, str], bound: Mapping[str, str] = {}) -> str:
    """Return a query of the cells in ``source`` that one assignment is shown by, with the wanted variables.

    ``source`` has columns with the names of the atoms' cells and of the bound variables' expressions.
    """
    used = {v for atom in atoms for _, v in atom.values}
    fixed = {v: e for v, e in bound.items() if v in used}
    key = [*(atom.cell for atom in atoms), *fixed.values()]
    seen = {v: f"source.{e}" for v, e in fixed.items()}
    conditions = []
    for i, atom in enumerate(atoms):
        conditions.append(f"r{i}.cell = source.{atom.cell}")
        for column, variable in atom.values:
            if variable in seen:
                conditions.append(f"r{i}.{column} = {seen[variable]}")
            else:
                seen[variable] = f"r{i}.{column}"
    also = "".join(f", {seen[v]} AS {name}" for v, name in wanted.items())
    tables = "".join(f", {atom.shown} AS r{i}" for i, atom in enumerate(atoms))
    keys = ", ".join(dict.fromkeys(key))
    chosen = ", ".join(f"source.{k}" for k in dict.fromkeys(key))
    return f"SELECT DISTINCT {chosen}{also} FROM (SELECT DISTINCT {keys} FROM {source}) AS source{tables} WHERE {' AND '.join(conditions)}"
