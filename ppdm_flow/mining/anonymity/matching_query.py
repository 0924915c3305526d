"""The second route to the supports of rows in two tables: SQL over the released file and the original."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ppdm_flow.mining.anonymity.levels import NUMBER, ByInterval
from ppdm_flow.mining.anonymity.matching import INTERVALS, MatchedColumn
from ppdm_flow.mining.exposure.numbers_query import value_of
from ppdm_flow.mining.releases.relation import weight_of
from ppdm_flow.sdk.audit import Sql, quoted
from ppdm_flow.tables.schema import Schema

Pairs = list[tuple[int, int, int]]


def supports(sql: Sql, chosen: Sequence[MatchedColumn], level: str, original: Schema, candidate: Schema) -> Pairs:
    """Return (support in the original, in the release, number of distinct rows), each pair of supports once.

    Rows are grouped by MD5 over their cells: 16 bytes a row, and DuckDB spills what does not fit.
    """
    before = _digest(_cell(quoted(c.source), c, level) for c in chosen)
    after = _digest(_cell(value_of(quoted(c.column), c.values), c, level) for c in chosen)
    query = f"""
        WITH rows AS (
            SELECT {before} AS r, {weight_of(original)} AS o, CAST(0 AS BIGINT) AS p FROM original
            UNION ALL
            SELECT {after} AS r, CAST(0 AS BIGINT) AS o, {weight_of(candidate)} AS p FROM candidate),
        joined AS (SELECT SUM(o) AS o, SUM(p) AS p FROM rows GROUP BY r)
        SELECT o, p, COUNT(*) FROM joined WHERE o > 0 OR p > 0 GROUP BY o, p"""  # noqa: S608  # identifiers and texts are quoted
    return [(int(o), int(p), int(n)) for o, p, n in sql.rows(query)]


def _digest(cells: Iterable[str]) -> str:
    """Return a number for a row, each cell with its length before it, so that no two rows are written alike."""
    written = (f"COALESCE(LENGTH({cell}) || ':' || {cell}, '-')" for cell in cells)
    return f"MD5_NUMBER(CONCAT({', '.join(written)}))"


def _cell(cell: str, column: MatchedColumn, level: str) -> str:
    chosen = column.intervals if column.recoded or level == INTERVALS else None
    return cell if chosen is None else _interval(cell, chosen)


def _interval(cell: str, intervals: ByInterval) -> str:
    """Return the interval of a number or of an interval's name, and any other text as it is."""
    bare = f"TRIM({cell}, ' ' || CHR(9))"
    passed = " + ".join(
        f"(CASE WHEN TRY_CAST({bare} AS DOUBLE) >= {e!r}::DOUBLE THEN 1 ELSE 0 END)" for e in intervals.edges
    )
    named = " ".join(f"WHEN {cell} = '{label}' THEN CHR(31) || '{i}'" for i, label in enumerate(intervals.labels))
    return (
        f"(CASE WHEN REGEXP_FULL_MATCH({bare}, '{NUMBER}') THEN CHR(31) || ({passed})::VARCHAR {named} ELSE {cell} END)"
    )
