"""One reader's files for one question: which rows are alike, and what their cells show of its attributes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import networkx as nx
import numpy as np
import numpy.typing as npt
import pandas as pd

from ppdm_flow.reader.faults import JoinTooLargeError
from ppdm_flow.reader.files import (
    MISSING,
    NO_CELL,
    Ints,
    ReleasedColumn,
    ReleasedFile,
    SourceRows,
    numbered,
    values_moved_back,
)

SHAPE = "shape"
Shown = tuple[tuple[str, ...], tuple[str, ...], pd.DataFrame]
"""Columns of cells, the attributes that they show together, and the distinct cells with values."""


@dataclass(frozen=True, slots=True)
class ReaderQuestion:
    """A person's known attributes (``grouping``), and the one that may not be learned (``sensitive``, or empty)."""

    grouping: tuple[str, ...]
    sensitive: str = ""
    nulls: str = "own_category"

    def openness(self, column: ReleasedColumn) -> str:
        """``open``: it carries attributes of ``grouping`` only; ``mixed``: others as well; ``closed``: only others."""
        inside = column.carries.intersection(self.grouping)
        if not column.carries:
            return "none"
        return "closed" if not inside else "open" if inside == column.carries else "mixed"


@dataclass(frozen=True, eq=False)
class RowKinds:
    """The rows of one file as distinct kinds: ``kind`` (rows,) is each row's, ``cells`` the table of kinds.

    ``shapes`` (kinds,) are the columns of which a kind has a cell, ``count`` (kinds,) is how many units have a row of
    it. ``columns`` are those that matter, by the names that ``cells`` gives them; ``moved_back`` take part in guesses
    only.
    """

    file: ReleasedFile
    source: SourceRows
    question: ReaderQuestion
    columns: dict[str, ReleasedColumn]
    moved_back: dict[str, ReleasedColumn]
    shown: dict[str, ShownValues]
    kind: Ints = field(init=False)
    cells: pd.DataFrame = field(init=False)
    shapes: list[tuple[str, ...]] = field(init=False)
    count: Ints = field(init=False)
    absent: npt.NDArray[np.bool_] = field(init=False)
    own: Ints = field(init=False)

    def __post_init__(self) -> None:
        every = self.columns | self.moved_back
        own, _ = numbered(self._own_values(), len(self.file))
        kind, first = numbered(
            [*(c.cells for c in every.values()), self.file.absent.astype(np.int64), own], len(self.file)
        )
        cells = pd.DataFrame({key: c.cells[first] for key, c in every.items()}, index=range(len(first)))
        there = (cells[list(self.columns)] != NO_CELL).to_numpy()
        shape, examples = numbered(list(there.T.astype(np.int64)), len(first))
        every_shape = [tuple(key for key, has in zip(self.columns, there[i], strict=True) if has) for i in examples]
        shapes = [every_shape[number] for number in shape.tolist()]
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "cells", cells)
        object.__setattr__(self, "shapes", shapes)
        object.__setattr__(self, "count", np.bincount(kind, self.weight_of_rows, len(first)).astype(np.int64))
        object.__setattr__(self, "absent", self.file.absent[first])
        object.__setattr__(self, "own", own[first])

    def _own_values(self) -> list[Ints]:
        """Return the columns that distinguish rows besides their cells, in a file that lacks rows.

        Absent rows have a probability by what decided, and rows with the values of an absent known row may fit it.
        """
        file, question = self.file, self.question
        if not file.absent.any():
            return []
        decided = file.decided or frozenset()
        among = [(a, ~file.absent) for a in question.grouping if self.source.subject]
        among += [(a, file.absent) for a in sorted(decided - {question.sensitive}) if question.sensitive in decided]
        return [np.where(rows, self.source.codes[a][self.first_source], NO_CELL) for a, rows in among]

    @cached_property
    def first_source(self) -> Ints:
        """The first source row of each row."""
        place = self.file.place
        out = np.full(len(self.file), -1, dtype=np.int64)
        there = np.flatnonzero(place >= 0)[::-1]
        out[place[there]] = there
        return out

    @cached_property
    def weight_of_rows(self) -> Ints:
        """How many units each row counts."""
        return self.source.weight[self.first_source]

    @property
    def of_guesses(self) -> dict[str, ReleasedColumn]:
        """The columns of which one assignment of values must be shown in a guess."""
        return {k: self.columns[k] for k in self.keys("mixed", "closed")} | self.moved_back

    @cached_property
    def left_out(self) -> npt.NDArray[np.bool_]:
        """Which rows `nulls: exclude` leaves out."""
        missing = np.zeros(len(self.file), dtype=bool)
        for column in self.columns.values() if self.question.nulls == "exclude" else ():
            if self.question.openness(column) in ("open", "mixed") or self.question.sensitive in column.carries:
                missing |= column.cells == MISSING
        return missing

    def keys(self, *how: str, virtual: bool = True) -> list[str]:
        """Return the columns that are open, mixed or closed."""
        return [k for k, c in self.columns.items() if self.question.openness(c) in how and (virtual or not c.virtual)]

    @cached_property
    def mixed(self) -> list[str]:
        """The columns that are mixed in some row, with all their kinds of cells."""
        names = {self.columns[k].name for k in self.keys("mixed")}
        return [k for k, c in self.columns.items() if c.name in names]

    def parts(self, keys: Sequence[str]) -> tuple[Ints, pd.DataFrame]:
        """Return the number of each kind's cells in some columns, and the table of these cells by number."""
        number, first = numbered([self.cells[k].to_numpy() for k in keys], len(self.cells))
        return number, self.cells.loc[first, list(keys)].reset_index(drop=True)

    def inside(self, keys: Iterable[str]) -> list[str]:
        """Return the attributes of the grouping that these columns carry."""
        return sorted({a for k in keys for a in self.columns[k].carries if a in self.question.grouping})


def rows_of(
    source: SourceRows, files: Sequence[ReleasedFile], question: ReaderQuestion, steady: Iterable[str] = ()
) -> list[RowKinds]:
    """Return the rows of all files with the columns that matter to the question, or link files or rows of a person."""
    named = [{f"{i}.{j}": c for j, c in enumerate(f.columns)} for i, f in enumerate(files)]
    names = [{n for c in columns.values() for n in c.names} for columns in named]
    shared = {n for i, one in enumerate(names) for n in one if any(n in other for other in names[i + 1 :])}
    question_names = {*question.grouping, *([question.sensitive] if question.sensitive else []), *steady}
    every: list[RowKinds] = []
    for file, columns in zip(files, named, strict=True):
        keys = list(columns)
        kept: set[str] = set()
        for numbers, _ in components((i, columns[k].names) for i, k in enumerate(keys)):
            part = [columns[keys[i]] for i in numbers]
            if any(question_names & c.carries or shared.intersection(c.names) for c in part):
                kept |= {keys[i] for i in numbers}
        chosen = {k: columns[k] for k in keys if k in kept}
        moved = {f"{len(every)}.{c.name}": c for c in values_moved_back(file, source, question.grouping)}
        shown = {k: shown_by(c, file, source, question.grouping) for k, c in (chosen | moved).items()}
        every.append(RowKinds(file, source, question, chosen, moved, shown))
    return every


def shown_together(
    cells: pd.DataFrame, keys: Sequence[str], shown: dict[str, ShownValues], wanted: Iterable[str]
) -> pd.DataFrame:
    """Return the distinct rows of ``cells`` with all values of ``wanted`` that their ``keys`` can show together.

    Cells of `NO_CELL` show anything. A wanted attribute is `NO_CELL` where no cell of the rows reveals it.
    """
    names = sorted(set(wanted))
    out = []
    there = (cells[list(keys)] != NO_CELL).to_numpy()
    shape, first = numbered(list(there.T.astype(np.int64)), len(cells))
    for number, example in enumerate(first):
        present = [k for k, has in zip(keys, there[example], strict=True) if has]
        table = cells[shape == number].drop_duplicates()
        for numbers, inside in components((i, shown[k].names) for i, k in enumerate(present)):
            mine = [present[i] for i in numbers]
            shown_names = inside.intersection(names)
            values = values_of(table[mine].drop_duplicates(), [(k, shown[k]) for k in mine], shown_names)
            if shown_names or len(numbers) > 1:
                table = joined(table, values)
        out.append(table.assign(**{n: NO_CELL for n in names if n not in table.columns}))
    return pd.concat(out) if out else cells.assign(**dict.fromkeys(names, NO_CELL))


# What cells can show: relations of values, joined over the columns of rows that are looked at together.


CELL = "cell"

MOST_PARTS = 8
"""In how many parts choices of known rows are looked at, where all at once are too many."""
MOST_CELLS = 50_000_000
"""Cells of one table; what needs more is not verified. A join takes up to 30 bytes a cell, so these are 1.5 GB."""


@dataclass(frozen=True, slots=True, eq=False)
class ShownValues:
    """The values that a column's cells can show: ``pairs`` are the distinct (cell, values of ``names``)."""

    names: tuple[str, ...]
    pairs: pd.DataFrame


def shown_by(column: ReleasedColumn, file: ReleasedFile, source: SourceRows, grouping: Collection[str]) -> ShownValues:
    """Return what occurs with each cell of a column.

    A cell that carries attributes of ``grouping`` and others can also show a combination that no row has, if its part
    in ``grouping`` and its other part each occur with the cell.
    """
    there = file.place >= 0
    cells = column.cells[file.place[there]]
    attributes = [name.partition("@")[0] for name in column.names]
    table = {CELL: cells, **{n: source.codes[a][there] for n, a in zip(column.names, attributes, strict=True)}}
    occurring = pd.DataFrame(table)
    pairs = occurring[cells != NO_CELL].drop_duplicates()
    inside = [n for n, a in zip(column.names, attributes, strict=True) if a in grouping]
    outside = [n for n in column.names if n not in inside]
    if inside and outside:
        parts = (pairs[[CELL, *part]].drop_duplicates() for part in (inside, outside))
        crossed = joined(*parts)[[CELL, *column.names]]
        taken = crossed.merge(occurring[list(column.names)].drop_duplicates(), how="left", indicator=True)
        pairs = pd.concat([pairs, crossed[(taken["_merge"] == "left_only").to_numpy()]]).drop_duplicates()
    return ShownValues(column.names, pairs)


def require_room(rows: float, columns: int) -> None:
    """Raise TooManyError for a table that has more than `MOST_CELLS`."""
    if rows * columns > MOST_CELLS:
        raise JoinTooLargeError


def joined(one: pd.DataFrame, other: pd.DataFrame) -> pd.DataFrame:
    """Join two tables by all columns that both have. Raises TooManyError."""
    shared = [c for c in one.columns if c in other.columns]
    columns = len(one.columns) + len(other.columns) - len(shared)
    if not shared:
        require_room(len(one) * len(other), columns)
        return one.merge(other, how="cross")
    if len(one) * len(other) * columns > MOST_CELLS:
        counts = (
            one.groupby(shared)
            .size()
            .rename("a")
            .to_frame()
            .join(other.groupby(shared).size().rename("b"), how="inner")
        )
        require_room(float((counts["a"].astype(float) * counts["b"]).sum()), columns)
    return one.merge(other, on=shared)


def components(columns: Iterable[tuple[int, Sequence[str]]]) -> list[tuple[list[int], set[str]]]:
    """Return columns, by number, that show values of common attributes, even through others; and their attributes."""
    graph = nx.Graph()
    for number, names in columns:
        graph.add_node(number)
        graph.add_edges_from((number, name) for name in names)
    parts = (list(part) for part in nx.connected_components(graph))
    return [(sorted(x for x in p if isinstance(x, int)), {x for x in p if isinstance(x, str)}) for p in parts]


def values_of(
    rows: pd.DataFrame, relations: Sequence[tuple[str, ShownValues]], wanted: Collection[str]
) -> pd.DataFrame:
    """Return the distinct values of ``wanted`` that the cells of each of ``rows`` can show together.

    ``rows`` have a column for each of the ``relations``, with its cells, and others, which stay. The relations hang
    together by their attributes.
    """
    left: list[Shown] = [((c,), shown.names, shown.pairs.rename(columns={CELL: c})) for c, shown in relations]
    if len({frozenset(names) for _, names, _ in left}) == 1 < len(left):
        left = _intersected(rows, left)
    out = rows
    known: set[str] = set(rows.columns)
    while left:
        place = next((i for i, (_, names, _) in enumerate(left) if known & set(names)), 0)
        _, names, pairs = left.pop(place)
        out = joined(out, pairs)
        known |= set(names)
        needed = {n for columns, names, _ in left for n in (*names, *columns)}
        keep = [c for c in out.columns if c in rows.columns or c in wanted or c in needed]
        out = out[keep].drop_duplicates()
    return out[[*rows.columns, *(w for w in wanted if w in out.columns and w not in rows.columns)]].drop_duplicates()


def _intersected(rows: pd.DataFrame, relations: list[Shown]) -> list[Shown]:
    """Return relations of the same attributes as one where each of ``rows`` has cells that show many values.

    Labels of classes show what lies in a wide interval each, and few values together.
    """
    ((column,), names, pairs), *others = relations
    shown = pairs.groupby(column).size()
    if shown.reindex(rows[column]).sum() <= 4 * sum(len(each) for _, _, each in relations):
        return relations
    for _, _, each in others:
        pairs = joined(pairs, each)
    return [(tuple(c for columns, _, _ in relations for c in columns), names, pairs)]


def codes_of(*columns: np.ndarray[tuple[int], np.dtype[np.int64]]) -> pd.DataFrame:
    """Return columns as a table whose columns are numbered."""
    return pd.DataFrame(dict(enumerate(columns)))


def agreeing(one: pd.DataFrame, other: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Join two tables where they agree in ``names``; a value of `NO_CELL` agrees with any, and gives way to it."""
    out = []
    for mine, left in _by_free(one, names):
        for theirs, right in _by_free(other, names):
            first = left.drop(columns=[n for n in names if n in mine])
            second = right.drop(columns=[n for n in names if n in theirs and n not in mine])
            out.append(joined(first, second))
    columns = [*one.columns, *(c for c in other.columns if c not in one.columns)]
    return pd.concat([table[columns] for table in out]) if out else pd.DataFrame(columns=columns)


def _by_free(table: pd.DataFrame, names: Sequence[str]) -> list[tuple[set[str], pd.DataFrame]]:
    if not names:
        return [(set(), table)]
    free = (table[list(names)] == NO_CELL).to_numpy()
    shape, first = numbered(list(free.T.astype(np.int64)), len(table))
    return [
        ({n for n, is_free in zip(names, free[f], strict=True) if is_free}, table[shape == i])
        for i, f in enumerate(first)
    ]
