"""The second route to what all releases tell: SQL that joins rows, their people, and the people of other releases."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ppdm_flow.audits.relation import complete
from ppdm_flow.audits.successive import joined
from ppdm_flow.core.roles import Nulls
from ppdm_flow.sdk.history import Membership, Places
from ppdm_flow.tables.table import Table, concat


def together(
    rows: Iterable[tuple[Table, Places]],
    columns: Sequence[str],
    own: Membership,
    others: Sequence[Membership],
    nulls: Nulls,
) -> tuple[str, list[Any]]:
    """Return a SELECT of the distinct combinations c0, c1, … with their rows ``n``, and its parameters.

    The last column is the sensitive one, as in ``columns``; before it comes what the other releases tell of the person.
    """
    parts = list(rows)
    whole = concat(table for table, _ in parts) if parts else Table.of({name: [] for name in columns})
    people = np.concatenate([np.zeros(0, dtype=np.int64), *(places for _, places in parts)])
    number, first = _combinations(whole, columns)
    cells = [whole[c].take(first).texts() for c in columns]
    parameters = [list(range(len(first))), *cells, people.tolist(), number.tolist()]
    parameters += [list(range(len(own.subjects))), _texts([own.subjects])]
    parameters += [[i for i, o in enumerate(others) for _ in o.subjects]]
    parameters += [_texts([o.subjects for o in others]), _texts([o.classes for o in others])]
    return _query(len(columns), nulls), parameters


def _combinations(whole: Table, columns: Sequence[str]) -> tuple[Places, Places]:
    """Return the number of each row's combination, and a row of each."""
    number = np.zeros(len(whole), dtype=np.int64)
    for column in columns:
        number = joined(number, whole[column].dense.astype(np.int64))
    return number, np.unique(number, return_index=True)[1]


def _texts(hashes: Iterable[Any]) -> list[str]:
    return [text.decode() for each in hashes for text in each.tolist()]


def _query(columns: int, nulls: Nulls) -> str:
    cells = ", ".join(f"unnest(?::VARCHAR[]) AS v{i}" for i in range(columns))
    named = [*(f"v{i} AS c{i}" for i in range(columns - 1)), f"was AS c{columns - 1}", f"v{columns - 1} AS c{columns}"]
    where = f"WHERE {complete(columns + 1)}" if nulls is Nulls.EXCLUDE else ""
    return f"""
        WITH combo AS (SELECT unnest(?::INTEGER[]) AS combo, {cells}),
        line AS (SELECT unnest(?::INTEGER[]) AS place, unnest(?::INTEGER[]) AS combo),
        person AS (SELECT unnest(?::INTEGER[]) AS place, unnest(?::VARCHAR[]) AS person),
        member AS (
            SELECT unnest(?::INTEGER[]) AS release, unnest(?::VARCHAR[]) AS person, unnest(?::VARCHAR[]) AS cls),
        told AS (
            SELECT place, COALESCE(string_agg(release || ':' || cls, ',' ORDER BY release), 'new') AS was
            FROM person LEFT JOIN member USING (person) GROUP BY place),
        lines AS (SELECT {", ".join(named)} FROM line JOIN combo USING (combo) JOIN told USING (place))
        SELECT *, COUNT(*) AS n FROM lines {where} GROUP BY ALL"""  # noqa: S608  # our own names
