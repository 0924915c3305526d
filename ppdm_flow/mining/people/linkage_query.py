"""Which released rows are seen to be one person's: the second route, in SQL."""

from __future__ import annotations

from collections.abc import Sequence

from ppdm_flow.tables.column import SUPPRESSED_TEXT


def linked_text(rows: str, person: str, pseudonyms: Sequence[str], others: Sequence[str], weight: str = "n") -> str:
    """Return a SELECT of all columns of ``rows``, and ``linked``.

    The rule is that of :func:`ppdm_flow.mining.people.linkage.linked_rows`.

    Parameters
    ----------
    rows
        A relation of texts: NULL is a missing cell, ``⊥`` a suppressed one. A line stands for ``weight`` equal rows.
    person
        The column that says whose row it is.
    pseudonyms, others
        The columns that stand for the person, and the others outside of the grouping ones. All names are ready for SQL.
    weight
        The column with the number of rows of a line.
    """
    every = [*pseudonyms, *others]
    if not every:
        return f"SELECT *, FALSE AS linked FROM {rows}"  # noqa: S608  # our own names
    counted = f"SELECT SUM({weight}) AS m FROM {rows} GROUP BY"  # noqa: S608  # as above
    repeats = ", ".join(
        f"(SELECT COALESCE(MAX(m), 0) > 1 FROM ({counted} {column})) AS repeats_{i}"  # noqa: S608  # as above
        for i, column in enumerate(every)
    )
    marks = ", ".join(f"CASE WHEN repeats_{i} THEN {column} END AS mark_{i}" for i, column in enumerate(every))
    parts = [f"({column} IS NOT NULL AND {column} <> '{SUPPRESSED_TEXT}')" for column in pseudonyms]
    parts += [f"({column} IS NOT NULL AND {_one_persons(person, [column], weight)})" for column in every]
    names = [f"mark_{i}" for i, _ in enumerate(every)]
    some = " OR ".join(f"{name} IS NOT NULL" for name in names)
    parts.append(f"(({some}) AND {_one_persons(person, names, weight)})")
    unmarked = ", ".join([*names, *(f"repeats_{i}" for i, _ in enumerate(every))])
    return f"""
        SELECT * EXCLUDE ({unmarked}), {" OR ".join(parts)} AS linked
        FROM (SELECT *, {marks} FROM {rows} CROSS JOIN (SELECT {repeats}))"""  # noqa: S608  # as above


def _one_persons(person: str, columns: Sequence[str], weight: str) -> str:
    """Return the condition that these cells are in two rows or more, and only in one person's."""
    window = f"OVER (PARTITION BY {', '.join(columns)})"
    return f"(SUM({weight}) {window} > 1 AND MIN({person}) {window} = MAX({person}) {window})"
