"""Linked rows: released rows that are seen to be one person's.

A row is linked where a pseudonym leaves with it. It is also linked where its cells of some released columns outside of
the grouping ones occur in two rows or more and only in one person's. Such sets are each column, any two and any three
of them, all of them together, and all but one (see :func:`column_sets`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.sdk.audit import Sql
from ppdm_flow.tables.column import MISSING, SPECIALS, SUPPRESSED_TEXT
from ppdm_flow.tables.numbering import joined

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]
Truths = npt.NDArray[np.bool_]
MOST_COLUMNS = 3
"""Columns that are looked at together, but for all of them and for all but one."""
MOST_SETS = 100
"""Sets of columns that are looked at beside the single ones: with more columns, smaller sets."""


@dataclass(frozen=True, slots=True, eq=False)
class LinkedRowCounts:
    """``rows`` (rows,) says which rows are linked, and by what: how many rows each thing links, others aside.

    ``by_pseudonym`` and ``by_column`` are in the order in which the columns were given; ``together`` are those that
    several columns link together and no single one does.
    """

    rows: Truths
    by_pseudonym: tuple[int, ...]
    by_column: tuple[int, ...]
    together: int

    @property
    def total(self) -> int:
        """The number of linked rows."""
        return int(self.rows.sum())


def column_sets(columns: int) -> list[tuple[int, ...]]:
    """Return the sets of columns, by their places, whose cells together may link rows.

    Each one; any two, and any three, where these are no more than ``MOST_SETS``; all together, and all but one.
    """
    every = tuple(range(columns))
    sets: list[tuple[int, ...]] = [(place,) for place in every]
    number = 0
    for size in range(2, MOST_COLUMNS + 1):
        number += comb(columns, size)
        if number > MOST_SETS:
            break
        sets += combinations(every, size)
    sets += [tuple(p for p in every if p != out) for out in every] if columns > 1 else []
    return list(dict.fromkeys([*sets, every]))


def linked_rows(
    person: npt.NDArray[np.integer], pseudonyms: Sequence[Codes], others: Sequence[Codes]
) -> LinkedRowCounts:
    """Find the linked rows of a release.

    Decided cell by cell: a row whose cell of one column is anybody's may be linked by another column. A missing cell
    links nothing. A suppressed one is a cell like any other, since a step put it there: where only one person's rows
    have it, they stand out. Among several cells together a missing one is one more value, as a recipient sees it, but
    rows that miss all of them are not linked. A column in which no cell occurs twice, as a row number, has no part in
    these: it says nothing of who, and no two rows would be equal beside it.

    Parameters
    ----------
    person
        (rows,) whose row it is, numbers from 0.
    pseudonyms
        The codes (rows,) of each released column that identifies the person. A row with a value there is linked.
    others
        The codes (rows,) of the other released columns outside of the grouping ones.
    """
    own = person.astype(np.int64, copy=False)
    if len(own) and int(own.min()) < 0:
        raise ValueError("every row must have a person, a number from 0")
    if any(len(column) != len(own) for column in (*pseudonyms, *others)):
        raise ValueError(f"columns must have {len(own)} rows, as many as `person`")
    named = [(column >= 0) | _one_persons(own, column) for column in pseudonyms]
    alone = [_one_persons(own, column) for column in others]
    rows = np.zeros(len(own), dtype=np.bool_)
    for each in (*named, *alone):
        rows |= each
    together = _together(own, (*pseudonyms, *others)) & ~rows
    counts = [tuple(int(each.sum()) for each in every) for every in (named, alone)]
    return LinkedRowCounts(rows | together, counts[0], counts[1], int(together.sum()))


def _one_persons(person: Ints, column: Codes) -> Truths:
    """Return the rows whose cell occurs in two rows or more and in no other person's."""
    return np.asarray((column != MISSING) & _repeated_by_one(person, column.astype(np.int64) + SPECIALS))


def _repeated_by_one(person: Ints, cell: Ints) -> Truths:
    size = int(cell.max(initial=-1)) + 1
    first = np.full(size, np.iinfo(np.int64).max)
    last = np.full(size, -1)
    np.minimum.at(first, cell, person)
    np.maximum.at(last, cell, person)
    apart = (first == last) & (np.bincount(cell, minlength=size) > 1)
    return np.asarray(apart[cell], dtype=np.bool_)


def _together(person: Ints, columns: Sequence[Codes]) -> Truths:
    """Return the rows that some cells of several columns link."""
    out = np.zeros(len(person), dtype=np.bool_)
    dense = [column.astype(np.int64) + SPECIALS for column in columns]
    repeating = [i for i, each in enumerate(dense) if int(np.bincount(each).max(initial=0)) > 1]
    sets = {tuple(p for p in places if p in repeating) for places in column_sets(len(columns))}
    last: list[tuple[int, tuple[Ints, Ints]]] = []
    for places in sorted(each for each in sets if len(each) > 1):
        rows, cell = _numbered(dense, places, last)
        some = np.zeros(len(rows), dtype=np.bool_)
        for place in places:
            some |= columns[place][rows] != MISSING
        out[rows[some & _repeated_by_one(person[rows], cell)]] = True
    return out


def _numbered(
    dense: Sequence[Ints], places: tuple[int, ...], last: list[tuple[int, tuple[Ints, Ints]]]
) -> tuple[Ints, Ints]:
    """Return the rows whose cells of these columns occur twice or more, and a number for each such combination.

    A row that is alone by some of the columns is so by more of them. ``last`` are the columns that were asked for
    before, each with what this one and those before it say: in their order, sets begin as the ones before them.
    """
    same = 0
    while same < min(len(last), len(places)) and last[same][0] == places[same]:
        same += 1
    del last[same:]
    for place in places[same:]:
        if last:
            rows, cell = last[-1][1]
            cell = joined(cell, dense[place][rows])
        else:
            rows, cell = np.arange(len(dense[place])), dense[place]
        repeated = np.bincount(cell)[cell] > 1
        last.append((place, (rows[repeated], cell[repeated])))
    return last[-1][1]


# Which released rows are seen to be one person's: the second route, in SQL.


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
        A SELECT of texts over ``tables``: NULL is a missing cell, ``⊥`` a suppressed one. A line represents ``weight``
        equal rows.
    person
        The column that says whose row it is.
    pseudonyms, others
        The columns that identify the person, and the others outside of the grouping ones. All names are ready for SQL.
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
    yield from (_linkage_query_one_persons(person, [every[p] for p in places], weight) for places in sets if places)


def _linkage_query_one_persons(person: str, columns: Sequence[str], weight: str) -> str:
    """Return a SELECT of the lines whose cells are in two rows or more, and only in one person's."""
    some = " OR ".join(f"{column} IS NOT NULL" for column in columns)
    same = " AND ".join(f"lines.{column} IS NOT DISTINCT FROM alone.{column}" for column in columns)
    return f"""
        SELECT at_line FROM lines JOIN (
            SELECT {", ".join(columns)} FROM lines WHERE {some} GROUP BY ALL
            HAVING SUM({weight}) > 1 AND MIN({person}) = MAX({person})) AS alone ON {same}"""  # noqa: S608  # our own names
