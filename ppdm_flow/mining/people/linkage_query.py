"""Which released rows are seen to be one person's: the second route, in SQL."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ppdm_flow.mining.people.linkage import column_sets
from ppdm_flow.sdk.audit import Sql
from ppdm_flow.tables.column import SUPPRESSED_TEXT


def linked_lines(
    sql: Sql,
    rows: str,
    tables: Mapping[str, Any],
    person: str,
    pseudonyms: Sequence[str],
    others: Sequence[str],
    weight: str = "n",
) -> pa.Table:
    """Return the lines of a SELECT with one column more, ``linked``; sets of columns are looked at one by one.

    The rule is that of :func:`ppdm_flow.mining.people.linkage.linked_rows`.

    Parameters
    ----------
    rows
        A SELECT of texts over ``tables``: NULL is a missing cell, ``⊥`` a suppressed one. A line stands for ``weight``
        equal rows.
    person
        The column that says whose row it is.
    pseudonyms, others
        The columns that stand for the person, and the others outside of the grouping ones. All names are ready for SQL.
    weight
        The column with the number of rows of a line.
    """
    lines = sql.table(f"SELECT *, ROW_NUMBER() OVER () - 1 AS at_line FROM ({rows})", (), tables)  # noqa: S608  # our own query
    linked = np.zeros(len(lines), dtype=np.bool_)
    for text in _questions(sql, lines, person, pseudonyms, others, weight):
        linked[sql.table(text, (), {"lines": lines})["at_line"].to_numpy()] = True
    at = lines["at_line"].to_numpy()
    return lines.drop_columns(["at_line"]).append_column("linked", pa.array(linked[at], pa.bool_()))


def _questions(
    sql: Sql, lines: pa.Table, person: str, pseudonyms: Sequence[str], others: Sequence[str], weight: str
) -> Iterator[str]:
    """Yield SELECTs of the lines that a pseudonym, or the cells of a set of columns, link."""
    for column in pseudonyms:
        yield f"SELECT at_line FROM lines WHERE {column} IS NOT NULL AND {column} <> '{SUPPRESSED_TEXT}'"  # noqa: S608  # our own names
    every = [*pseudonyms, *others]
    repeating = set()
    for place, column in enumerate(every):
        text = f"SELECT COALESCE(MAX(m), 0) > 1 FROM (SELECT SUM({weight}) AS m FROM lines GROUP BY {column})"  # noqa: S608  # as above
        if sql.rows(text, (), {"lines": lines})[0][0]:
            repeating.add(place)
    sets = dict.fromkeys(tuple(p for p in places if p in repeating) for places in column_sets(len(every)))
    yield from (_one_persons(person, [every[p] for p in places], weight) for places in sets if places)


def _one_persons(person: str, columns: Sequence[str], weight: str) -> str:
    """Return a SELECT of the lines whose cells are in two rows or more, and only in one person's."""
    some = " OR ".join(f"{column} IS NOT NULL" for column in columns)
    same = " AND ".join(f"lines.{column} IS NOT DISTINCT FROM alone.{column}" for column in columns)
    return f"""
        SELECT at_line FROM lines JOIN (
            SELECT {", ".join(columns)} FROM lines WHERE {some} GROUP BY ALL
            HAVING SUM({weight}) > 1 AND MIN({person}) = MAX({person})) AS alone ON {same}"""  # noqa: S608  # our own names
