"""Which released rows are seen to be one person's: the second route, in SQL."""

from __future__ import annotations

from collections.abc import Sequence

from ppdm_flow.mining.people.linkage import column_sets
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
    linked = [
        f"SELECT at_line FROM marked WHERE {column} IS NOT NULL AND {column} <> '{SUPPRESSED_TEXT}'"  # noqa: S608  # as above
        for column in pseudonyms
    ]
    linked += [_one_persons(person, [f"mark_{i}" for i in places], weight) for places in column_sets(len(every))]
    ours = ", ".join(["at_line", *(f"{name}_{i}" for i, _ in enumerate(every) for name in ("mark", "repeats"))])
    return f"""
        WITH marked AS MATERIALIZED (
            SELECT *, ROW_NUMBER() OVER () AS at_line, {marks} FROM {rows} CROSS JOIN (SELECT {repeats}))
        SELECT * EXCLUDE ({ours}), at_line IN ({" UNION ALL ".join(linked)}) AS linked
        FROM marked"""  # noqa: S608  # as above


def _one_persons(person: str, marks: Sequence[str], weight: str) -> str:
    """Return a SELECT of the lines whose cells are in two rows or more, and only in one person's."""
    some = " OR ".join(f"{mark} IS NOT NULL" for mark in marks)
    same = " AND ".join(f"marked.{mark} IS NOT DISTINCT FROM alone.{mark}" for mark in marks)
    return f"""
        SELECT at_line FROM marked JOIN (
            SELECT {", ".join(marks)} FROM marked WHERE {some} GROUP BY ALL
            HAVING SUM({weight}) > 1 AND MIN({person}) = MAX({person})) AS alone ON {same}"""  # noqa: S608  # our own names
