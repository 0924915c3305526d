"""The files of a reader: cells, each file with the attributes of the source that it carries."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from ppdm_flow.core.lineage import CellKind

Ints = npt.NDArray[np.int64]
MISSING, NO_CELL = -1, -2
"""Codes of a missing cell, and of a row that a column says nothing of."""
FUNCTIONS = (CellKind.MAP, CellKind.CLASS_ID, CellKind.KEYED)
"""Kinds of cells that are a function of what they carry, where the fitted step is held."""


@dataclass(frozen=True, slots=True, eq=False)
class ReleasedColumn:
    """One kind of cell of a released column: a column that hides some of its cells by class has two.

    ``cells`` (rows of the file,) are codes, `MISSING` or `NO_CELL`. ``carries``: with the fitted step and the draws
    held, rows that are equal in these attributes show equal cells. ``key``: the key and scope of keyed cells.
    ``hidden``: these are the hidden ones; ``hidden_for``: the requirement for whose sake their classes are hidden.
    """

    name: str
    cells: Ints
    carries: frozenset[str]
    kind: CellKind = CellKind.MAP
    key: str = ""
    hidden: bool = False
    hidden_for: str = ""
    virtual: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """What its cells show values of: keyed ones of another attribute than the plain one."""
        return tuple(sorted(f"{a}@{self.key}" if self.kind is CellKind.KEYED else a for a in self.carries))


@dataclass(frozen=True, slots=True, eq=False)
class ReleasedFile:
    """One file. ``place`` (rows of the source,) is the row of the file that a source row became, or -1.

    ``absent`` (rows,): rows that the file lacks for another reason than chance; they come last, and ``decided`` are the
    attributes that decided. ``sampled``: the file lacks rows by chance. ``refers``: linked tables that its table refers
    to. ``moved`` are sets of attributes whose cells were moved by one draw, such as the dates of one person.
    """

    name: str
    place: Ints
    columns: tuple[ReleasedColumn, ...]
    absent: npt.NDArray[np.bool_]
    decided: frozenset[str] | None = None
    sampled: bool = False
    table: str = ""
    refers: frozenset[str] = frozenset()
    moved: tuple[frozenset[str], ...] = ()

    def __len__(self) -> int:
        return len(self.absent)


@dataclass(frozen=True, slots=True, eq=False)
class SourceRows:
    """The rows of the source: ``codes`` (rows,) of each attribute's values, and the ``unit`` (rows,) of each row.

    ``weight`` (rows,) is how many units a row counts, ``subject`` the attribute that says whose row it is. Rows that
    are not ``sought`` (rows,) are among the others only.
    """

    codes: Mapping[str, Ints]
    unit: Ints
    weight: Ints
    subject: str = ""
    sought: npt.NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.unit)


def values_moved_back(file: ReleasedFile, source: SourceRows, grouping: Collection[str]) -> list[ReleasedColumn]:
    """Return the source values of cells that were moved by one draw with a cell whose attribute is known."""
    known = frozenset(grouping)
    moved = sorted({a for together in file.moved if together & known for a in together - known})
    there = np.flatnonzero(file.place >= 0)[::-1]
    columns = []
    for attribute in moved:
        cells = np.full(len(file), NO_CELL, dtype=np.int64)
        cells[file.place[there]] = source.codes[attribute][there]
        cells[file.absent] = NO_CELL
        columns.append(ReleasedColumn(f"{attribute}, moved back", cells, frozenset((attribute,))))
    return columns


def numbered(columns: Sequence[Ints], rows: int) -> tuple[Ints, Ints]:
    """Return the number of each row's combination of cells, and the first row of each number."""
    number = np.zeros(rows, dtype=np.int64)
    for cells in columns:
        codes, _ = pd.factorize(cells)
        number = pd.factorize(number * (int(codes.max(initial=0)) + 1) + codes)[0].astype(np.int64)
    first = np.full(int(number.max(initial=-1)) + 1, -1, dtype=np.int64)
    first[number[::-1]] = np.arange(rows - 1, -1, -1)
    return number, first


def as_one(values: Mapping[str, Ints], texts: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return for each attribute the first one that is equal to it in every row."""
    first: dict[object, str] = {}
    same = {}
    for name, codes in values.items():
        number, occurring = pd.factorize(codes)
        named = np.append(np.array(texts[name], dtype=object), [None, ""])  # a suppressed cell, and a missing one
        same[name] = first.setdefault((number.tobytes(), tuple(named[occurring])), name)
    return same
