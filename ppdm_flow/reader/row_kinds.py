"""One reader's files before one question: which rows are alike, and what their cells show of its attributes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pandas as pd

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
from ppdm_flow.reader.relations import ShownValues, components, joined, shown_by, values_of

SHAPE = "shape"


@dataclass(frozen=True, slots=True)
class ReaderQuestion:
    """What is known of somebody (``grouping``) and what may not be learned (``sensitive``, none if empty)."""

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
        """Return what rows are told apart by besides their cells, in a file that lacks rows.

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
        """How many units each row stands for."""
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
    asked = {*question.grouping, *([question.sensitive] if question.sensitive else []), *steady}
    every: list[RowKinds] = []
    for file, columns in zip(files, named, strict=True):
        keys = list(columns)
        kept: set[str] = set()
        for numbers, _ in components((i, columns[k].names) for i, k in enumerate(keys)):
            part = [columns[keys[i]] for i in numbers]
            if any(asked & c.carries or shared.intersection(c.names) for c in part):
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

    Cells of `NO_CELL` show anything. A wanted attribute that none of the rows' cells tells of is `NO_CELL`.
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
            told = inside.intersection(names)
            values = values_of(table[mine].drop_duplicates(), [(k, shown[k]) for k in mine], told)
            if told or len(numbers) > 1:
                table = joined(table, values)
        out.append(table.assign(**{n: NO_CELL for n in names if n not in table.columns}))
    return pd.concat(out) if out else cells.assign(**dict.fromkeys(names, NO_CELL))
