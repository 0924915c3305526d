"""The second route to classes and their sensitive values: SQL over the released file."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ppdm_flow.audits.relation import all_known, classes, crowds
from ppdm_flow.core.requirements import TOLERANCE
from ppdm_flow.core.roles import Nulls
from ppdm_flow.sdk.audit import Sql
from ppdm_flow.tables.schema import Schema


class Query:
    """Common table expressions over counted combinations, for a query of one figure for each class.

    ``cells`` (id, s, n): rows of value s in the crowd of class ``id``; ``sizes`` (id, size, own): the crowd's rows, and
    those that belong to the class; ``base`` (s, q): shares of the table. Without a sensitive column all have one value.
    """

    def __init__(
        self,
        sql: Sql,
        counted: str,
        width: int,
        nulls: Nulls,
        *,
        sensitive: bool = True,
        tables: Mapping[str, Any] = {},
    ) -> None:
        """``counted`` is a SELECT of c0, c1, … and rows ``n``, of ``tables``; ``width`` columns form the classes."""
        self.sql = sql
        self.counted = counted
        self.tables = tables
        self.wildcard = nulls is Nulls.WILDCARD
        self.width = width
        self.value = f"c{width}" if sensitive else "NULL"

    @classmethod
    def of_file(cls, sql: Sql, schema: Schema, columns: Sequence[str], sensitive: str | None, nulls: Nulls) -> Query:
        """Return the query over the relation ``candidate``."""
        every = [*columns] if sensitive is None else [*columns, sensitive]
        where = all_known(every) if nulls is Nulls.EXCLUDE else ""
        counted = classes("candidate", every, schema, where)
        return cls(sql, counted, len(columns), nulls, sensitive=sensitive is not None)

    def values(self) -> list[str | None]:
        """Return the sensitive values that occur, None for a missing one."""
        rows = self.sql.rows(f"SELECT DISTINCT {self.value} FROM ({self.counted})", (), self.tables)  # noqa: S608  # our own query
        return [row[0] for row in rows]

    def worst(self, each: str, bound: float, *, at_most: bool, parameters: Sequence[Any] = ()) -> dict[str, Any]:
        """Return the worst of the figures ``v`` of the query ``each`` (id, v), and what exceeds ``bound``.

        A NULL is a figure beyond all bounds.
        """
        slack = TOLERANCE * max(1.0, abs(bound))
        edge = bound + slack if at_most else bound - slack
        beyond = f"v > {edge!r}::DOUBLE" if at_most else f"v < {edge!r}::DOUBLE"
        query = f"""
            WITH {self._tables()}, found AS (
                SELECT COALESCE(CAST(v AS DOUBLE), 'Infinity'::DOUBLE) AS v, own FROM ({each}) JOIN sizes USING (id))
            SELECT {"MAX" if at_most else "MIN"}(v), COUNT(*), COALESCE(SUM(own) FILTER ({beyond}), 0),
                   COUNT(*) FILTER ({beyond}) FROM found"""  # noqa: S608  # identifiers are quoted, numbers are ours
        value, number, rows, many = self.sql.rows(query, parameters, self.tables)[0]
        finite = None if value is None or not math.isfinite(value) else float(value)
        return {"worst": finite, "classes": int(number), "rows_beyond": int(rows), "classes_beyond": int(many)}

    def _tables(self) -> str:
        keys = ", ".join(f"c{i}" for i in range(self.width))
        rank = f"DENSE_RANK() OVER (ORDER BY {keys})" if keys else "0"
        ranked = f"""
            ranked AS MATERIALIZED (SELECT *, {rank} AS id FROM ({self.counted})),
            own AS (SELECT id, {self.value} AS s, CAST(n AS BIGINT) AS n FROM ranked)"""  # noqa: S608  # our own names
        if self.wildcard:
            ranked += f""",
            combos AS MATERIALIZED (
                SELECT DISTINCT {", ".join(["id", *([keys] if keys else [])])} FROM ranked),
            pairs AS ({crowds("combos", "combos", self.width, "a.id AS id, b.id AS other")}),
            cells AS MATERIALIZED (
                SELECT pairs.id AS id, s, CAST(SUM(n) AS BIGINT) AS n FROM pairs JOIN own ON own.id = pairs.other
                GROUP BY pairs.id, s)"""  # noqa: S608  # our own names
        else:
            ranked += ", cells AS MATERIALIZED (SELECT * FROM own)"
        return ranked + _SHARES


_SHARES = """,
    total AS (SELECT CAST(SUM(n) AS DOUBLE) AS total FROM own),
    base AS MATERIALIZED (SELECT s, SUM(n) / ANY_VALUE(total) AS q FROM own, total GROUP BY s),
    sizes AS MATERIALIZED (
        SELECT id, CAST(SUM(n) AS DOUBLE) AS size, ANY_VALUE(rows) AS own FROM cells
        JOIN (SELECT id, SUM(n) AS rows FROM own GROUP BY id) USING (id) GROUP BY id)"""
