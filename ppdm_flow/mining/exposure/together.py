"""The second route to what all releases tell: SQL that joins rows, their people, and the people of other releases."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa

from ppdm_flow.mining.releases.successive import relation
from ppdm_flow.sdk.history import Membership, Places
from ppdm_flow.tables.numbering import binary, joined
from ppdm_flow.tables.table import Table, concat


def together(
    rows: Iterable[tuple[Table, Places]],
    columns: Sequence[str],
    own: Membership,
    others: Sequence[Membership],
    known: Sequence[int],
) -> tuple[str, dict[str, pa.Table]]:
    """Return a SELECT of the distinct combinations c0, c1, … with their rows ``n``, and the tables that it names.

    c0 is what the other releases tell of the person, then come ``columns``. Those numbered in ``known`` are not NULL.
    """
    parts = list(rows)
    everything = concat(table for table, _ in parts) if parts else Table.of({name: [] for name in columns})
    people = np.concatenate([np.zeros(0, dtype=np.int64), *(places for _, places in parts)])
    number, first = _combinations(everything, columns)
    cells = {f"v{i}": pa.array(everything[c].take(first).texts(), pa.string()) for i, c in enumerate(columns)}
    tables = {
        "combo": pa.table({"combo": np.arange(len(first)), **cells}),
        "line": pa.table({"place": people, "combo": number}),
        "person": pa.table({"place": np.arange(len(own.subjects)), "person": binary(own.subjects)}),
        "member": relation(others),
    }
    return _query(len(columns), known), tables


def _combinations(table: Table, columns: Sequence[str]) -> tuple[Places, Places]:
    """Return the number of each row's combination, and a row of each."""
    number = np.zeros(len(table), dtype=np.int64)
    for column in columns:
        number = joined(number, table[column].dense.astype(np.int64))
    return number, np.unique(number, return_index=True)[1]


def _query(columns: int, known: Sequence[int]) -> str:
    named = ["was AS c0", *(f"v{i} AS c{i + 1}" for i in range(columns))]
    where = " AND ".join(f"c{i} IS NOT NULL" for i in known)
    kept = f"WHERE {where}" if where else ""
    return f"""
        WITH number AS (SELECT cls, row_number() OVER () AS id FROM member GROUP BY cls),
        numbered AS (SELECT release, person, id FROM member JOIN number USING (cls)),
        told AS (
            SELECT place, COALESCE(string_agg(release || ':' || id, ',' ORDER BY release), 'new') AS was
            FROM person LEFT JOIN numbered USING (person) GROUP BY place),
        lines AS (SELECT {", ".join(named)} FROM line JOIN combo USING (combo) JOIN told USING (place))
        SELECT *, COUNT(*) AS n FROM lines {kept} GROUP BY ALL"""  # noqa: S608  # our own names
