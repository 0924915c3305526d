"""Pieces of SQL over the relations ``candidate`` and ``original``: the audits' second route."""

from __future__ import annotations

from collections.abc import Sequence

from ppdm_flow.sdk.audit import quoted
from ppdm_flow.tables.schema import Schema


def text(value: str) -> str:
    """Return a text literal."""
    return "'" + value.replace("'", "''") + "'"


def weight_of(schema: Schema) -> str:
    """Return the expression for how many rows a row stands for."""
    return f"CAST({quoted(schema.weight)} AS BIGINT)" if schema.weight else "CAST(1 AS BIGINT)"


def classes(relation: str, columns: Sequence[str], schema: Schema, where: str = "") -> str:
    """Return a SELECT of the distinct combinations of ``columns`` as c0, c1, … with their rows ``n`` > 0."""
    named = "".join(f"{quoted(c)} AS c{i}, " for i, c in enumerate(columns))
    grouped = f" GROUP BY {', '.join(str(i + 1) for i in range(len(columns)))}" if columns else ""
    kept = f" WHERE {where}" if where else ""
    inner = f"SELECT {named}SUM({weight_of(schema)}) AS n FROM {relation}{kept}{grouped}"  # noqa: S608  # identifiers are quoted, no values
    return f"SELECT * FROM ({inner}) WHERE n > 0"  # noqa: S608  # the same


def all_known(columns: Sequence[str]) -> str:
    """Return the condition that none of ``columns`` is missing; empty for no columns."""
    return " AND ".join(f"{quoted(c)} IS NOT NULL" for c in columns)


def complete(columns: int) -> str:
    """Return the expression that none of c0, c1, … is missing."""
    return " AND ".join(f"c{i} IS NOT NULL" for i in range(columns)) or "TRUE"


def neighbours(left: str, right: str, columns: int, chosen: str) -> str:
    """Return a SELECT of ``chosen`` (of a and b) over all pairs that agree wherever neither cell is missing.

    ``left`` and ``right`` are relations with c0, c1, … and a truth column ``complete``. Pairs of complete ones are
    joined by equality; only the others have to be compared one by one.
    """
    same = " AND ".join(f"a.c{i} = b.c{i}" for i in range(columns)) or "TRUE"
    fits = " AND ".join(f"(a.c{i} IS NULL OR b.c{i} IS NULL OR a.c{i} = b.c{i})" for i in range(columns)) or "TRUE"
    sides = (
        ("a.complete AND b.complete", same),
        ("a.complete AND NOT b.complete", fits),
        ("NOT a.complete", fits),
    )
    return " UNION ALL ".join(
        f"SELECT {chosen} FROM {left} a, {right} b WHERE {side} AND {agree}"  # noqa: S608  # our own names
        for side, agree in sides
    )
