"""The second route: SQL over the people of all releases, and over the released file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ppdm_flow.mining.releases.successive import relation
from ppdm_flow.sdk.audit import Sql, quoted
from ppdm_flow.sdk.history import Membership

_GROUPS = """
    WITH number AS (SELECT cls, row_number() OVER () AS id FROM member GROUP BY cls),
    told AS (
        SELECT person, string_agg(release || ':' || id, ',' ORDER BY release) FILTER (release > 0) AS was,
               ANY_VALUE(id) FILTER (release = 0) AS now
        FROM member JOIN number USING (cls) GROUP BY person),
    cell AS (SELECT was, now, COUNT(*) AS n FROM told GROUP BY was, now),
    touched AS (SELECT DISTINCT was FROM cell WHERE was IS NOT NULL AND now IS NOT NULL),
    judged AS (SELECT * FROM cell WHERE now IS NOT NULL OR was IN (SELECT was FROM touched))
    SELECT COALESCE(MIN(n), 0), MIN(n) FILTER (now IS NOT NULL), MIN(n) FILTER (now IS NULL),
           COALESCE(SUM(n) FILTER (n < ?), 0), COUNT(*)
    FROM judged"""


def figures(sql: Sql, own: Membership, earlier: Sequence[Membership], k: int) -> Mapping[str, int | None]:
    """Return the audit's figures, computed by joins of people, and from the released file itself."""
    row = sql.rows(_GROUPS, [k], {"member": relation((own, *earlier))})[0]
    group_figures = dict(zip(("k", "k_present", "k_gone", "people_below", "groups"), row, strict=True))
    columns = ", ".join(quoted(c) for c in own.columns) or "()"
    file = f"SELECT COUNT(*), COALESCE(SUM(n), 0) FROM (SELECT COUNT(*) AS n FROM candidate GROUP BY {columns})"  # noqa: S608  # quoted
    cells, rows = sql.rows(file)[0]
    counted = {**group_figures, "rows": rows, "cells": cells}
    return {name: None if value is None else int(value) for name, value in counted.items()}
