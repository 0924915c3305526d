"""The released columns that carry an attribute of the policy; renaming does not change what they carry."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ppdm_flow.core import phrases
from ppdm_flow.sdk.audit import AuditContext, GroupedSql, Sql, quoted
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.schema import Schema

_MOST_NAMES = 20
_FIRST_NAMES = 10


def source_of(column: str, ctx: AuditContext) -> str:
    """Return the source's name of a released column."""
    facts = ctx.attributes.get(column)
    return (facts.source or facts.name) if facts else column


def namesakes(attribute: str, candidate: DataView, ctx: AuditContext) -> tuple[str, ...]:
    """Return the released columns that carry ``attribute``, in the release's order; none if it is not released."""
    return tuple(c for c in candidate.schema.names if source_of(c, ctx) == attribute)


def released(attributes: Iterable[str], candidate: DataView, ctx: AuditContext) -> tuple[str, ...]:
    """Return the released columns that carry one of ``attributes``, each once."""
    return tuple(dict.fromkeys(c for a in attributes for c in namesakes(a, candidate, ctx)))


def listed(names: Iterable[str]) -> str:
    """Return names for a sentence: ``a``, ``a and b``, ``a, b and c``; of very many the first, and how many more."""
    return phrases.listed([f"`{n}`" for n in names], _MOST_NAMES, _FIRST_NAMES) or "nothing"


# Pieces of SQL over the relations `candidate` and `original`: the audits' second route.


_WIDE = 64
"""Columns beyond which rows are grouped by one hash of their cells: many keys take much memory each."""
_FEW = 1 << 17
"""Combinations up to which they are remembered."""


def weight_of(schema: Schema) -> str:
    """Return the expression for how many rows a row counts."""
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


def remembered(sql: Sql, grouped: str, many: Callable[[], int]) -> tuple[str, Mapping[str, Any]]:
    """Return a SELECT of what ``grouped`` selects of ``candidate``, and the tables that it reads.

    Where these are few groups, which ``many`` counts, the file is read for them once and all later requests reuse them.
    """
    if not isinstance(sql, GroupedSql) or many() > _FEW:
        return grouped, {}
    name = f"groups_{hashlib.sha256(grouped.encode()).hexdigest()}"  # two SELECTs of one query may differ
    return f"SELECT * REPLACE (CAST(n AS HUGEINT) AS n) FROM {name}", {name: sql.groups(grouped)}  # noqa: S608  # our own name


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


def crowds(left: str, right: str, columns: int, chosen: str) -> str:
    """Return a SELECT of ``chosen`` (of a and b) over all pairs where b is missing or the same as a in every column.

    ``left`` and ``right`` are relations with c0, c1, …. Which cells are missing is the pattern of a row: each row of
    ``left`` is made to look like each pattern of ``right`` that it can take by losing cells, and joined by equality.
    """
    if not columns:
        return f"SELECT {chosen} FROM {left} a, {right} b"  # noqa: S608  # our own names
    every = range(columns)
    patterns = f"SELECT DISTINCT {', '.join(f'c{i} IS NULL AS m{i}' for i in every)} FROM {right}"  # noqa: S608  # the same
    taken = " AND ".join(f"(m{i} OR c{i} IS NOT NULL)" for i in every)
    same = " AND ".join(f"CASE WHEN NOT m{i} THEN a.c{i} END IS NOT DISTINCT FROM b.c{i}" for i in every)
    return f"""
        SELECT {chosen} FROM (SELECT * FROM {left}, ({patterns}) WHERE {taken}) AS a JOIN {right} AS b ON {same}"""  # noqa: S608  # the same
