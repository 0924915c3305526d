"""The second route to dominance: numbers are read, ranked and added up in SQL, by integers of 128 bits."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.exposure.columns import RevealingColumns
from ppdm_flow.mining.exposure.query import ClassQuery
from ppdm_flow.mining.people.known_query import KnownQuery
from ppdm_flow.mining.people.query import PeopleQuery
from ppdm_flow.requirements.dominance.concentration import HIGH, UNIT, Concentrations
from ppdm_flow.requirements.dominance.reading import DominanceGroups, ReadRows
from ppdm_flow.requirements.dominance.requirement import Dominance
from ppdm_flow.sdk.audit import AuditContext, Sql

_NUMBER = r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"
_READ = f"CASE WHEN regexp_full_match(s, '{_NUMBER}') THEN abs(TRY_CAST(s AS DOUBLE)) END"
_PARTS = f"greatest(floor(x / MAX(x) OVER (PARTITION BY id) * {UNIT!r}::DOUBLE), 1.0)"
_WHOLE = f"CAST(CAST({_PARTS} AS BIGINT) AS HUGEINT)"
_COLUMNS = 5


def side_sql(
    requirement: Dominance, looked: ReadRows, by: RevealingColumns, ctx: AuditContext, sql: Sql
) -> DominanceGroups:
    """Group and measure again. Raises UnmeasuredError where these null semantics have no crowds."""
    query: ClassQuery
    if ctx.people is None:
        query = ClassQuery.of_rows(sql, looked.rows, by, looked.reading, ctx.nulls, values_known=False)
    else:
        query = PeopleQuery.of_people(sql, looked.rows, by, looked.reading, ctx.nulls, ctx.people, values_known=False)
    found = np.array(query.ask(f"{_each(requirement, query)} ORDER BY id"), dtype=np.float64).reshape(-1, _COLUMNS)
    share, margin, contributors, own, _ = found.T
    each = Concentrations(share, margin, _whole(contributors))
    return DominanceGroups(looked.reading, each, _whole(own), 0)


def worst_known_sql(requirement: Dominance, query: KnownQuery) -> tuple[float | int | None, ...]:
    """Return the largest share, the least margin and the fewest contributors of all groups that have a total."""
    text = f"""
        SELECT MAX(share), MIN(margin), MIN(contributors) FROM ({_each(requirement, query)})
        WHERE contributors > 0"""  # noqa: S608  # our own query
    lines = [line for line in query.of_groups(text) if line[2] is not None]
    if not lines:
        return None, None, None
    share, margin, contributors = zip(*lines, strict=True)
    return max(share), min(margin), int(min(contributors))


def _each(requirement: Dominance, query: ClassQuery) -> str:
    """Return a SELECT of share, margin, contributors and rows of every class."""
    n, q = requirement.n, float(requirement.q)
    return f"""
        WITH {_BY_PEOPLE if isinstance(query, PeopleQuery) else _BY_ROWS},
        ranked_numbers AS (
            SELECT id, n, COALESCE(SUM(n) OVER before, 0) AS larger,
                   {_WHOLE} AS whole
            FROM distinct_numbers
            WINDOW before AS (PARTITION BY id ORDER BY x DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)),
        totals AS (
            SELECT id, SUM(whole * n) AS total, SUM(n) AS contributors,
                   SUM(whole * greatest(0, least(n, {n} - larger))) AS top,
                   SUM(whole * (n - greatest(0, least(n, 2 - larger)))) AS rest
            FROM ranked_numbers GROUP BY id)
        SELECT COALESCE({_double("top")} / {_double("total")}, 0.0) AS share,
               COALESCE({q!r}::DOUBLE * ({_double("rest")} / {UNIT!r}::DOUBLE), 'Infinity'::DOUBLE) AS margin,
               COALESCE(contributors, 0) AS contributors, own, id
        FROM sizes LEFT JOIN totals USING (id)"""  # noqa: S608  # our own names and numbers


def _double(integer: str) -> str:
    """Return an integer of 128 bits as a double, rounded as the first route rounds."""
    high = f"CAST(CAST({integer} // {HIGH} AS BIGINT) AS DOUBLE)"
    return f"({high} * {float(HIGH)!r}::DOUBLE + CAST(CAST({integer} % {HIGH} AS BIGINT) AS DOUBLE))"


_BY_ROWS = f"""
        read AS (SELECT id, {_READ} AS x, CAST(n AS BIGINT) AS n FROM cells),
        distinct_numbers AS (
            SELECT id, x, SUM(n) AS n FROM read WHERE x > 0 AND isfinite(x) AND n > 0 GROUP BY id, x)"""  # noqa: S608  # our own names
_BY_PEOPLE = f"""
        read AS (SELECT id, p, {_READ} AS x, CAST(n AS BIGINT) AS n FROM held),
        parts AS (SELECT id, p, n, {_WHOLE} AS whole FROM read WHERE x > 0 AND isfinite(x) AND n > 0),
        contributions AS (
            SELECT id, {_double("sum")} AS x
            FROM (SELECT id, p, SUM(whole * n) AS sum FROM parts GROUP BY id, p)),
        distinct_numbers AS (SELECT id, x, COUNT(*) AS n FROM contributions GROUP BY id, x)"""  # noqa: S608  # as above


def _whole(numbers: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    return np.rint(numbers).astype(np.int64)
