"""Pieces of SQL over the relations ``candidate`` and ``original``: the audits' second route."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from ppdm_flow.sdk.audit import Sql, quoted
from ppdm_flow.tables.schema import Schema

_SPLIT = 3
_WIDE = 64
"""Columns beyond which rows are grouped by one hash of their cells: many keys take much memory each."""
_AT_ONCE = 32
"""Columns whose values one query counts: the time of a query grows faster than its distinct counts."""


def weight_of(schema: Schema) -> str:
    """Return the expression for how many rows a row stands for."""
    return f"CAST({quoted(schema.weight)} AS BIGINT)" if schema.weight else "CAST(1 AS BIGINT)"


def classes(relation: str, columns: Sequence[str], schema: Schema, where: str = "") -> str:
    """Return a SELECT of the distinct combinations of ``columns`` as c0, c1, … with their rows ``n`` > 0."""
    named = "".join(f"{quoted(c)} AS c{i}, " for i, c in enumerate(columns))
    grouped = f" GROUP BY {', '.join(str(i + 1) for i in range(len(columns)))}" if columns else ""
    kept = f" WHERE {where}" if where else ""
    if len(columns) > _WIDE:
        named = "".join(f"ANY_VALUE({quoted(c)}) AS c{i}, " for i, c in enumerate(columns))
        grouped = f" GROUP BY {_digest(columns)}"
        kept = ""  # a filter would hold the rows as a whole: those that it leaves out are not counted instead
    counted = f" FILTER (WHERE {where})" if where and not kept else ""
    inner = f"SELECT {named}SUM({weight_of(schema)}){counted} AS n FROM {relation}{kept}{grouped}"  # noqa: S608  # identifiers are quoted, no values
    return f"SELECT * FROM ({inner}) WHERE n > 0"  # noqa: S608  # the same


def _digest(columns: Sequence[str]) -> str:
    """Return a hash of the cells of a row: each with its length before it, so that no two rows are written alike."""
    cells = (f"COALESCE(LENGTH({quoted(c)}) || ':' || {quoted(c)}, '-')" for c in columns)
    return f"SHA256(CONCAT({', '.join(cells)}))"


def all_known(columns: Sequence[str]) -> str:
    """Return the condition that none of ``columns`` is missing; empty for no columns."""
    each = [f"{quoted(c)} IS NOT NULL" for c in columns]
    return f"LIST_BOOL_AND([{', '.join(each)}])" if len(each) > _WIDE else " AND ".join(each)


def complete(columns: int) -> str:
    """Return the expression that none of c0, c1, … is missing."""
    return " AND ".join(f"c{i} IS NOT NULL" for i in range(columns)) or "TRUE"


def selective(sql: Sql, relation: str, columns: Sequence[str]) -> tuple[str, ...]:
    """Return the columns in the order in which comparing them tells most rows apart: many values, few missing."""
    if len(columns) < 2:
        return tuple(columns)
    fits = [
        fit for first in range(0, len(columns), _AT_ONCE) for fit in _fits(sql, relation, columns[first:][:_AT_ONCE])
    ]
    return tuple(columns[i] for i in sorted(range(len(columns)), key=lambda i: (fits[i], i)))


def _fits(sql: Sql, relation: str, columns: Sequence[str]) -> list[float]:
    """Return for each column how large a share of the rows a row is compared with, roughly."""
    each = ", ".join(f"COUNT(DISTINCT {quoted(c)}), COUNT(*) - COUNT({quoted(c)})" for c in columns)
    row = sql.rows(f"SELECT {each}, COUNT(*) FROM {relation}")[0]  # noqa: S608  # identifiers are quoted
    rows = max(1, row[-1])
    return [2 * missing / rows + 1 / max(1, values) for values, missing in zip(row[:-1:2], row[1:-1:2], strict=True)]


def neighbours(left: str, right: str, columns: int, chosen: str) -> str:
    """Return a SELECT of ``chosen`` (of a and b) over all pairs that agree wherever neither cell is missing.

    ``left`` and ``right`` are relations with c0, c1, … and a truth column ``complete``. Complete ones are joined by
    equality. The others are split by whether a and b know each of the first columns, so that most can be joined by
    equality there, and only few have to be compared one by one.
    """
    same = " AND ".join(f"a.c{i} = b.c{i}" for i in range(columns)) or "TRUE"
    sides = [f"a.complete AND b.complete AND {same}"]
    split = min(_SPLIT, columns)
    rest = [f"(a.c{i} IS NULL OR b.c{i} IS NULL OR a.c{i} = b.c{i})" for i in range(split, columns)]
    for ways in product(("a.c{0} = b.c{0}", "a.c{0} IS NULL", "a.c{0} IS NOT NULL AND b.c{0} IS NULL"), repeat=split):
        terms = [way.format(i) for i, way in enumerate(ways)]
        sides.append(" AND ".join([*terms, *rest, "NOT (a.complete AND b.complete)"]))
    return " UNION ALL ".join(f"SELECT {chosen} FROM {left} a, {right} b WHERE {side}" for side in sides)  # noqa: S608  # our own names
