"""Releases as one table: a row for each joined source row, and one for every row that stays alone."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.roles import Role
from ppdm_flow.engine.judging.joining.rows import JoinedRows, NumberedStream
from ppdm_flow.engine.streams.stream import Stop, StreamPart
from ppdm_flow.plan.definition import ReleaseNode
from ppdm_flow.tables.column import SUPPRESSED, Column, union
from ppdm_flow.tables.sets import Baskets, SetColumn, gathered
from ppdm_flow.tables.table import RowNumbers, Table, concat

Places = npt.NDArray[np.int64]
NOWHERE = -1
_ABSENT = -3
"""Code of a cell that is not in the release of its row, until it has a code of its own."""
ABSENT_TEXT = "(not there)"
Member = tuple[str, str]
"""A release and a column of it."""


class JoinedStream:
    """Coded columns in memory, in the order of the source's row numbers; several rows may have one number.

    ``longest_line`` is that of no file.
    """

    longest_line = 0

    def __init__(self, attributes: Sequence[AttributeFacts], table: Table, partition_rows: int, stop: Stop) -> None:
        self.attributes = tuple(attributes)
        self.row_count = len(table)
        self._table = table
        self._partition_rows = partition_rows
        self._stop = stop

    def parts(self, columns: Sequence[str] | None = None) -> Iterator[StreamPart]:
        """Yield the partitions; the rows of one number are in one of them."""
        table = self._table if columns is None else self._table.select(columns)
        start = 0
        while start < len(table):
            self._stop.check()
            end = min(start + self._partition_rows, len(table))
            while end < len(table) and table.rows[end] == table.rows[end - 1]:
                end += 1
            yield StreamPart(table.take(np.arange(start, end)))
            start = end


def origins(sides: Mapping[str, RowNumbers], joined_rows: Sequence[JoinedRows]) -> tuple[RowNumbers, dict[str, Places]]:
    """Return the source's number of each row of the joined table, and its place in each release, or ``NOWHERE``.

    ``sides`` are the row numbers of the releases, ascending. Rows of one number that are joined, directly or over
    a third release, are one row.
    """
    every = np.unique(np.concatenate(list(sides.values())))
    place = {name: np.full(len(every), NOWHERE, dtype=np.int64) for name in sides}
    label = {name: np.full(len(every), len(sides), dtype=np.int64) for name in sides}
    for number, (name, rows) in enumerate(sides.items()):
        at = np.searchsorted(every, rows)
        place[name][at] = np.arange(len(rows))
        label[name][at] = number
    links = [
        (j.link.one.name, j.link.other.name, np.searchsorted(every, sides[j.link.one.name][j.one])) for j in joined_rows
    ]
    for _ in range(len(sides) - 1):  # a chain of all releases has as many links
        for one, other, at in links:
            least = np.minimum(label[one][at], label[other][at])
            label[one][at] = label[other][at] = least
    roots = [np.flatnonzero(label[name] == number) for number, name in enumerate(sides)]
    row = np.concatenate(roots)
    root = np.repeat(np.arange(len(roots)), [len(r) for r in roots])
    order = np.argsort(row, kind="stable")
    row, root = row[order], root[order]
    return every[row], {n: np.where(label[n][row] == root, place[n][row], NOWHERE) for n in sides}


@dataclass(frozen=True, slots=True, eq=False)
class JoinedTable:
    """The rows, what is known of their columns, and the code of the cells that a release does not have, by column.

    ``in_all`` (rows,) says which rows every release has.
    """

    table: Table
    attributes: tuple[AttributeFacts, ...]
    absent: Mapping[str, int]
    in_all: npt.NDArray[np.bool_]

    @property
    def of_all_releases(self) -> Table:
        """The rows that every release has."""
        return self.table.take(self.in_all)

    @property
    def unknowing(self) -> Table:
        """The rows with suppressed cells where a release is not there: anybody's of a population, and no number."""
        changed = {}
        for name, code in self.absent.items():
            column = self.table[name]
            codes = np.where(column.codes == code, np.int32(SUPPRESSED), column.codes)
            changed[name] = Column(codes, column.categories)
        return self.table.replaced(changed)


def joined_table(
    rows: RowNumbers, places: Mapping[str, Places], columns: Sequence[JoinedColumn], streams: Iterable[NumberedStream]
) -> JoinedTable:
    """Return the rows with these columns."""
    cells: dict[tuple[str, str], Column] = {}
    sets: dict[tuple[str, str], SetColumn] = {}
    for stream in streams:
        name = stream.release.name
        wanted = list(dict.fromkeys(c for column in columns for r, c in column.members if r == name))
        if wanted:
            table = concat(stream.tables(wanted))
            order = np.argsort(table.rows, kind="stable")
            cells |= {(name, c): table[c].take(order) for c in table.columns}
            sets |= {(name, c): each.take(order) for c, each in table.sets.items()}
    made: dict[str, Column] = {}
    made_sets: dict[str, SetColumn] = {}
    absent: dict[str, int] = {}
    facts: list[AttributeFacts] = []
    for column in columns:
        if column.facts.role is Role.ITEMS:
            if (all_items := _all_items(column, sets, places)) is not None:
                made_sets[column.name] = all_items
                facts.append(replace(column.facts, name=column.name, source=column.facts.source or column.facts.name))
            continue
        made[column.name], code = _column(column, cells, places)
        own = column.facts
        derived = own.derived if code is None else own.lineage
        facts.append(replace(own, name=column.name, source=own.source or own.name, derived=derived))
        if code is not None and not column.is_weight:
            absent[column.name] = code
    in_all = np.logical_and.reduce([at != NOWHERE for at in places.values()])
    return JoinedTable(Table(made, rows, made_sets), tuple(facts), absent, in_all)


def _column(
    wanted: JoinedColumn, cells: Mapping[tuple[str, str], Column], places: Mapping[str, Places]
) -> tuple[Column, int | None]:
    """Return a column, and the code of cells that a release does not have, if there are any."""
    members = [(places[release], cells[release, name]) for release, name in wanted.members]
    categories = union(c.categories for _, c in members)
    codes = np.full(len(members[0][0]), _ABSENT, dtype=np.int32)
    for at, column in members:
        free = (codes == _ABSENT) & (at != NOWHERE)
        codes[free] = column.onto(categories).codes[at[free]]
    absent = codes == _ABSENT
    if not absent.any():
        return Column(codes, categories), None
    text = "1" if wanted.is_weight else _no_text_of(categories)
    code = int(categories.index(pa.scalar(text, pa.string())).as_py())
    if code < 0:
        code, categories = len(categories), pa.concat_arrays([categories, pa.array([text], categories.type)])
    codes[absent] = code
    return Column(codes, categories), code


def _all_items(
    wanted: JoinedColumn, sets: Mapping[tuple[str, str], SetColumn], places: Mapping[str, Places]
) -> Baskets | None:
    """Return the items that each row has in any release; None where some are randomized, and so nobody's."""
    members = [(places[release], sets[release, name]) for release, name in wanted.members]
    plain = [(at, each) for at, each in members if isinstance(each, Baskets)]
    if len(plain) < len(members):
        return None
    categories = union(each.categories for _, each in plain)
    rows, items = [], []
    for at, each in plain:
        there = np.flatnonzero(at != NOWHERE)
        taken = each.take(at[there]).onto(categories)
        rows.append(there[taken.rows()])
        items.append(taken.items)
    return gathered(np.concatenate(rows), np.concatenate(items), len(plain[0][0]), categories)[0]


def _no_text_of(categories: pa.StringArray) -> str:
    """Return a text that none of the cells has."""
    text = ABSENT_TEXT
    while categories.index(pa.scalar(text, pa.string())).as_py() >= 0:
        text = f"({text})"
    return text


# The columns of a joined table: those of all releases, shared and keyed ones once, sets of an attribute as one.


@dataclass(frozen=True, slots=True)
class JoinedColumn:
    """One column of a joined table, with the columns of releases that it is made of; ``facts`` are the first one's."""

    name: str
    facts: AttributeFacts
    members: tuple[Member, ...]

    @property
    def is_weight(self) -> bool:
        """Whether it says how many people each row counts."""
        return self.facts.role is Role.WEIGHT


def layout(
    releases: Sequence[ReleaseNode], joined_rows: Sequence[JoinedRows], telling: Collection[str] | None
) -> tuple[JoinedColumn, ...]:
    """Return the columns of releases computed from one of ``telling`` (None: all), the weights, and the sets."""
    of = {(r.name, a.name): a for r in releases for a in r.attributes if _tells(a, telling)}
    groups: dict[Member, list[Member]] = {member: [member] for member in of}
    for one, other in _same(joined_rows, of):
        first, second = groups[one], groups[other]
        if first is not second and {r for r, _ in first}.isdisjoint(r for r, _ in second):
            first += second
            groups |= dict.fromkeys(second, first)
    kept = list({id(g): g for g in groups.values()}.values())
    kept += _sets(releases, telling)
    of |= {(r.name, a.name): a for r in releases for a in r.attributes if a.role is Role.ITEMS}
    names = [name for _, name in (group[0] for group in kept)]
    columns: list[JoinedColumn] = []
    for group in kept:
        release, name = group[0]
        own = name if names.count(name) == 1 else f"{release}/{name}"
        while any(own == c.name for c in columns) or (own != name and own in names):
            own += "'"
        columns.append(JoinedColumn(own, of[group[0]], tuple(group)))
    return tuple(columns)


def _sets(releases: Sequence[ReleaseNode], telling: Collection[str] | None) -> list[list[Member]]:
    """Return the columns with sets, grouped by attribute: a reader who joins rows also joins their items."""
    members: dict[frozenset[str], list[Member]] = {}
    for release in releases:
        for fact in release.attributes:
            carried = fact.lineage.computed_from
            if fact.role is Role.ITEMS and (telling is None or not carried.isdisjoint(telling)):
                members.setdefault(carried, []).append((release.name, fact.name))
    return list(members.values())


def _tells(fact: AttributeFacts, telling: Collection[str] | None) -> bool:
    if fact.role is Role.ITEMS:
        return False
    return telling is None or fact.role is Role.WEIGHT or not fact.lineage.computed_from.isdisjoint(telling)


def _same(joined_rows: Sequence[JoinedRows], of: Collection[Member]) -> list[tuple[Member, Member]]:
    """Return the pairs of columns that are one."""
    pairs = [((j.link.one.name, a), (j.link.other.name, b)) for j in joined_rows for a, b in j.merged]
    return [(one, other) for one, other in pairs if one in of and other in of]
