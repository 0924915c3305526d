"""The second route to k-map: the classes of the released file joined with the population in SQL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ppdm_flow.core.roles import Nulls
from ppdm_flow.mining.populations.profiles import PopulationProfiles
from ppdm_flow.mining.releases.relation import all_known, classes
from ppdm_flow.sdk.audit import Sql
from ppdm_flow.tables.column import SUPPRESSED_TEXT
from ppdm_flow.tables.counts import Counts
from ppdm_flow.tables.schema import Schema


def smallest(sql: Sql, schema: Schema, released: Counts, profiles: PopulationProfiles, nulls: Nulls) -> int:
    """Return the smallest number of people that fit a class; 0 where there is no class."""
    width = len(released.columns)
    where = all_known(released.columns) if nulls is Nulls.EXCLUDE else ""
    grouped = classes("candidate", released.columns, schema, where)
    if not width:
        some = sql.rows(f"SELECT COUNT(*) FROM ({grouped})")[0][0]  # noqa: S608  # our own query
        return profiles.total if some else 0
    people = ", ".join(f"UNNEST(?::BIGINT[]) AS p{j}" for j in range(width))
    tables = "".join(
        f", f{j} AS (SELECT UNNEST(?::BIGINT[]) AS code, UNNEST(?::VARCHAR[]) AS label)" for j in range(width)
    )
    joins = "".join(f" JOIN f{j} ON f{j}.code = people.p{j}" for j in range(width))
    same = " AND ".join(f"c{j} IS NOT DISTINCT FROM f{j}.label" for j in range(width))
    keys = ", ".join(f"c{j}" for j in range(width))
    query = f"""
        WITH people AS MATERIALIZED (SELECT UNNEST(?::BIGINT[]) AS people, {people}){tables},
        classes AS MATERIALIZED ({grouped}),
        fitted AS (SELECT {keys}, SUM(people) AS fit FROM people{joins} JOIN classes ON {same} GROUP BY {keys})
        SELECT (SELECT COUNT(*) FROM classes), COUNT(*), COALESCE(MIN(fit), 0) FROM fitted"""  # noqa: S608  # our own
    every, fitted, least = sql.rows(query, _parameters(released, profiles))[0]
    return int(least) if every == fitted else 0


def _parameters(released: Counts, profiles: PopulationProfiles) -> list[Any]:
    """Return the people with their codes, then for each column its codes beside the labels that stand for them."""
    given: list[Any] = [profiles.people.tolist(), *(codes.tolist() for codes in profiles.codes.T)]
    for fits, column in zip(profiles.fits, released.columns, strict=True):
        names: Sequence[str | None] = [SUPPRESSED_TEXT, None, *released.names(column).to_pylist()]
        pairs = [(code, names[label]) for code, fit in enumerate(fits) for label in fit]
        given += [[code for code, _ in pairs], [label for _, label in pairs]]
    return given
