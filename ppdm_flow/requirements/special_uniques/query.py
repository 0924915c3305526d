"""The second route to special uniques: sets of attributes in SQL, one GROUP BY each.

A row is unique by some set of at most s attributes just where it has a minimal sample unique of at most s. So no query
looks for minimal sets: a row counts once, whichever sets single it out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, islice

from ppdm_flow.core.roles import Nulls
from ppdm_flow.mining.releases.relation import classes, crowds, remembered
from ppdm_flow.requirements.special_uniques.attributes import ReleasedAttributes
from ppdm_flow.sdk.audit import Sql
from ppdm_flow.sdk.view import DataView

_SETS = 100
"""So many sets in one query at most."""


def singled_out(
    sql: Sql, told: ReleasedAttributes, candidate: DataView, size: int, nulls: Nulls
) -> tuple[list[int], int]:
    """Return how many rows a set of at most 1, …, ``size`` attributes singles out, and how many rows there are."""
    columns = told.columns
    every = classes("candidate", columns, candidate.schema)
    grouped, tables = remembered(sql, every, lambda: len(candidate.counts(columns)))
    rows = int(sql.rows(f"SELECT COALESCE(SUM(n), 0) FROM ({grouped})", (), tables)[0][0])  # noqa: S608  # our own query
    found: set[int] = set()
    many: list[int] = []
    for level in range(1, size + 1):
        sets = _sets(told, columns, level)
        while some := tuple(islice(sets, _SETS)):
            found.update(int(row[0]) for row in sql.rows(_query(grouped, len(columns), some, nulls), (), tables))
        many.append(len(found))
    return many, rows


def _sets(told: ReleasedAttributes, columns: Sequence[str], level: int) -> Iterator[tuple[int, ...]]:
    """Yield the places of the columns of each set."""
    place = {name: i for i, name in enumerate(columns)}
    for chosen in combinations(told.carriers, level):
        yield tuple(dict.fromkeys(place[c] for each in chosen for c in each))


def _query(grouped: str, width: int, sets: Sequence[Sequence[int]], nulls: Nulls) -> str:
    """Return a SELECT of the numbers of the combinations that some set singles out; equal ones in every query."""
    order = ", ".join(f"c{i} NULLS FIRST" for i in range(width)) or "n"
    alone = " UNION ".join(_alone(places, nulls) for places in sets)
    return f"""
        WITH combos AS MATERIALIZED (SELECT *, ROW_NUMBER() OVER (ORDER BY {order}) AS id FROM ({grouped}))
        {alone}"""  # noqa: S608  # our own names


def _alone(places: Sequence[int], nulls: Nulls) -> str:
    """Return a SELECT of the combinations that one set singles out: a class of weight 1 is one combination."""
    keys = ", ".join(f"c{i}" for i in places)
    if nulls is not Nulls.WILDCARD:
        known = f"WHERE {' AND '.join(f'c{i} IS NOT NULL' for i in places)}" if nulls is Nulls.EXCLUDE else ""
        return f"(SELECT ANY_VALUE(id) AS id FROM combos {known} GROUP BY {keys} HAVING SUM(n) = 1)"  # noqa: S608  # the same
    named = ", ".join(f"c{i} AS c{j}" for j, i in enumerate(places))
    some = f"(SELECT {named}, SUM(n) AS n, ANY_VALUE(id) AS id FROM combos GROUP BY {keys})"  # noqa: S608  # the same
    pairs = crowds(some, some, len(places), "a.id, b.n")
    return f"(SELECT id FROM ({pairs}) GROUP BY id HAVING SUM(n) = 1)"  # noqa: S608  # the same
