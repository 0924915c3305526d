"""The join in SQL, over the released files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ppdm_flow.sdk.audit import Sql, quoted, sibling


def figures_by_sql(sql: Sql, other: str, key: str, names: Sequence[str]) -> Mapping[str, float | int | None]:
    """Return the figures of the join and the largest share within a class; cells that are missing join too."""
    there, by = quoted(sibling(other)), quoted(key)
    query = f"""
        WITH mine AS (SELECT {by} AS k, COUNT(*) AS n FROM candidate GROUP BY {by}),
             theirs AS (SELECT {by} AS k, COUNT(*) AS n FROM {there} GROUP BY {by})
        SELECT COALESCE(SUM(a.n * b.n), 0), COALESCE(SUM(a.n * b.n - LEAST(a.n, b.n)), 0)
        FROM mine a JOIN theirs b ON a.k IS NOT DISTINCT FROM b.k"""  # noqa: S608  # identifiers are quoted
    tuples, spurious = sql.rows(query)[0]
    bounds = [_bound(sql, there, by, quoted(name)) for name in names]
    return {"joined_tuples": int(tuples), "spurious_tuples": int(spurious), "posterior_bound": max(bounds)}


def _bound(sql: Sql, there: str, by: str, name: str) -> float:
    query = f"""
        WITH cells AS (SELECT {by} AS k, {name} AS v, COUNT(*) AS n FROM {there} GROUP BY ALL)
        SELECT MAX(share) FROM (SELECT MAX(n) / SUM(n) AS share FROM cells GROUP BY k)"""  # noqa: S608  # the same
    return float(sql.rows(query)[0][0])
