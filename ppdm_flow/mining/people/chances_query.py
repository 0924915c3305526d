"""The second route to the chance that one of a few known rows has a value: SQL, over the products of each class.

``rows`` has ``person``, ``class`` (NULL for none), ``known`` (whether somebody may know it); ``cells`` has ``class``,
``value`` (a number) and ``n``, how many rows of the class have it, not necessarily whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from ppdm_flow.mining.people.combinations import LARGEST
from ppdm_flow.sdk.audit import Sql

_CHANCES = pa.schema([("s", pa.string()), ("n", pa.float64())])
_CELLS = pa.schema([("class", pa.int64()), ("value", pa.int64()), ("n", pa.float64())])
_AT_A_TIME = 2_000_000
"""People in classes that have some value, in one query."""

_OPTIONS = """
    sizes AS MATERIALIZED (SELECT class, COUNT(*) AS size FROM rows WHERE class IS NOT NULL GROUP BY class),
    held AS MATERIALIZED (
        SELECT person, class, COUNT(*) AS copies FROM rows WHERE known AND class IS NOT NULL GROUP BY ALL)"""

_PRODUCT = """
    COALESCE(LIST_PRODUCT(LIST_TRANSFORM(RANGE(0, {known}),
        lambda i: GREATEST(0.0, size - n - i)::DOUBLE / (size - i))), 1.0)"""


def chances_sql(sql: Sql, rows: pa.Table, cells: pa.Table, known_rows: int | None) -> dict[int, float]:
    """Return the largest chance over all persons and choices of known rows, for each value that has any.

    ``known_rows`` is 1 to 3, or None for all. Of each person and number of rows in a class, the three best classes are
    enough: at most three are chosen, and each in one number. Some values at a time, so that memory is bounded.
    """
    tables = {"rows": rows, "cells": cells}
    text = _of_all() if known_rows is None else _of_few(known_rows)
    found: dict[int, float] = {}
    for values in _some_at_a_time(sql, tables):
        chosen = tables | {"asked": pa.table({"value": pa.array(values, pa.int64())})}
        found |= {int(value): float(chance) for value, chance in sql.rows(text, (), chosen)}
    return found


def _some_at_a_time(sql: Sql, tables: dict[str, pa.Table]) -> Iterator[list[int]]:
    text = f"""
        WITH {_OPTIONS} SELECT value, COUNT(*) FROM held JOIN cells USING (class) WHERE n > 0
        GROUP BY value ORDER BY value"""  # noqa: S608  # our own query
    waiting: list[int] = []
    load = 0
    for value, people in sql.rows(text, (), tables):
        if waiting and load + int(people) > _AT_A_TIME:
            yield waiting
            waiting, load = [], 0
        waiting.append(int(value))
        load += int(people)
    if waiting:
        yield waiting


def _of_all() -> str:
    product = _PRODUCT.format(known="copies")
    return f"""
        WITH {_OPTIONS}, each AS (
            SELECT person, value, {product} AS q
            FROM held JOIN sizes USING (class) JOIN cells USING (class) JOIN asked USING (value) WHERE n > 0)
        SELECT value, MAX(1 - q) FROM (
            SELECT person, value, PRODUCT(q) AS q FROM each GROUP BY person, value) GROUP BY value"""  # noqa: S608  # our own query


def _of_few(known_rows: int) -> str:
    product = _PRODUCT.format(known="many")
    picks = ["SELECT value, q FROM best"]
    if known_rows > 1:
        pair = "x.person = y.person AND x.value = y.value AND x.class <> y.class"
        picks.append(f"SELECT x.value, x.q * y.q FROM best x JOIN best y ON {pair} AND x.many + y.many <= {known_rows}")  # noqa: S608  # our own query
    if known_rows >= LARGEST:
        third = "z.person = x.person AND z.value = x.value AND z.class <> x.class AND z.class <> y.class"
        picks.append(
            f"SELECT x.value, x.q * y.q * z.q FROM best x JOIN best y ON {pair} JOIN best z ON {third}"  # noqa: S608  # as above
            " AND x.many = 1 AND y.many = 1 AND z.many = 1"
        )
    return f"""
        WITH {_OPTIONS}, options AS (
            SELECT person, class, many, value, {product} AS q
            FROM held JOIN (SELECT UNNEST(RANGE(1, {known_rows + 1})) AS many) ON many <= copies
            JOIN sizes USING (class) JOIN cells USING (class) JOIN asked USING (value) WHERE n > 0),
        best AS MATERIALIZED (
            SELECT *, ROW_NUMBER() OVER (PARTITION BY person, value, many ORDER BY q, class) AS place
            FROM options QUALIFY place <= {LARGEST})
        SELECT value, MAX(1 - q) FROM ({" UNION ALL ".join(picks)}) AS picked (value, q) GROUP BY value"""  # noqa: S608  # as above


class ChancesQuery:
    """``cells`` (id, s, n) are the largest chances of values, as of one group of one person."""

    def __init__(self, sql: Sql, chances: pa.Table) -> None:
        self.sql = sql
        self.chances = chances

    @classmethod
    def of(cls, sql: Sql, chances: Mapping[str | None, float]) -> ChancesQuery:
        """Return the query over the chance of each value."""
        return cls(sql, _table(list(chances.items()), _CHANCES))

    def worst_figure(self, each: str, parameters: list[Any], *, at_most: bool) -> float | None:
        """Return the figure ``v`` of a query (id, v); None where it has none."""
        text = f"""
            WITH cells AS (SELECT 0 AS id, s, n FROM chances), sizes AS (SELECT 0 AS id, 1.0::DOUBLE AS size, 1 AS own)
            SELECT {"MAX" if at_most else "MIN"}(v) FROM ({each})"""  # noqa: S608  # our own query
        worst = self.sql.rows(text, parameters, {"chances": self.chances})[0][0]
        return None if worst is None else float(worst)


def cells_table(cells: list[tuple[int, int, float]]) -> pa.Table:
    """Return ``cells`` of :func:`chances_sql`: class, value, and how many rows of the class have it."""
    return _table(cells, _CELLS)


def _table(lines: list[tuple[Any, ...]], schema: pa.Schema) -> pa.Table:
    columns = list(zip(*lines, strict=True)) if lines else [()] * len(schema)
    return pa.Table.from_arrays([pa.array(c, f.type) for c, f in zip(columns, schema, strict=True)], schema=schema)
