"""Tables that SQL makes of tables, and queries of what cells show together."""

# ruff: noqa: S608, E501  # long lines are SQL; all names in these queries are numbered ones of our own

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import networkx as nx
import numpy as np
import pyarrow as pa

from ppdm_flow.reader.faults import TooManyError


class Sql(Protocol):
    """DuckDB over Arrow tables."""

    def rows(self, query: str, parameters: Sequence[Any] = (), tables: Mapping[str, Any] = {}) -> list[tuple[Any, ...]]:
        """Return the result of one SELECT."""
        ...

    def table(self, query: str, parameters: Sequence[Any] = (), tables: Mapping[str, Any] = {}) -> Any:
        """Return the same as an Arrow table."""
        ...


MOST_ROWS = 20_000_000
"""Rows of one table; what needs more is not verified."""


class QueryTables:
    """Named Arrow tables, and what SQL makes of them."""

    def __init__(self, sql: Sql) -> None:
        self.sql = sql
        self.tables: dict[str, Any] = {}
        self._number = 0

    def keep(self, query: str, name: str = "") -> str:
        """Keep the result of a query as a table; return its name. Raises TooManyError."""
        name = name or self._fresh()
        table = self.sql.table(f"SELECT * FROM ({query}) LIMIT {MOST_ROWS + 1}", (), self._named(query))
        if table.num_rows > MOST_ROWS:
            raise TooManyError
        self.tables[name] = table
        return name

    def put(self, columns: Mapping[str, Any], name: str = "") -> str:
        """Keep arrays as a table; return its name."""
        name = name or self._fresh()
        self.tables[name] = pa.table({k: pa.array(np.ascontiguousarray(v)) for k, v in columns.items()})
        return name

    def _fresh(self) -> str:
        self._number += 1
        return f"t{self._number}"

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        return self.sql.rows(query, (), self._named(query))

    def columns(self, query: str) -> list[Any]:
        """Return the columns of a query as arrays."""
        return [c.to_numpy() for c in self.sql.table(query, (), self._named(query)).columns]

    def _named(self, query: str) -> dict[str, Any]:
        return {name: self.tables[name] for name in set(re.findall(r"\w+", query)) if name in self.tables}


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
