"""A table, or one partition of it: coded columns and the source row number of every row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.tables.column import Column, stacked_texts
from ppdm_flow.tables.numeric.column import NumericColumn, stacked_numbers
from ppdm_flow.tables.sets import SetColumn, stacked

RowNumbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """``columns`` in order, each of length ``len(rows)``; ``rows`` are global source row numbers, from 0.

    Row numbers travel with the rows through every step: draws are addressed by them, audits pair by them. ``sets``
    are the set-valued columns, after all others: code that builds a table from another's columns passes them on.
    """

    columns: Mapping[str, Column]
    rows: RowNumbers
    sets: Mapping[str, SetColumn] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, column in (*self.columns.items(), *self.sets.items()):
            if len(column) != len(self.rows):
                raise ValueError(f"column `{name}` has {len(column)} cells for {len(self.rows)} rows")
        if not self.sets.keys().isdisjoint(self.columns):
            raise ValueError(f"names must be of one column, and {sorted(self.sets.keys() & self.columns)} are of two")

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, name: str) -> Column:
        return self.columns[name]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all columns, in order; those of sets come last."""
        return (*self.columns, *self.sets)

    @classmethod
    def of(cls, columns: Mapping[str, list[str | None]], start: int = 0) -> Table:
        """Build a small table from lists of texts (tests and examples)."""
        built = {name: Column.of(values) for name, values in columns.items()}
        size = len(next(iter(built.values()))) if built else 0
        return cls(built, np.arange(start, start + size, dtype=np.int64))

    def texts(self, name: str) -> pa.StringArray:
        """Return the categories of a column, or the alphabet of a column of sets."""
        return (self.columns[name] if name in self.columns else self.sets[name]).categories

    def select(self, names: Sequence[str]) -> Table:
        """Return these columns, in this order; those of sets come last. Raises KeyError for one that is not there."""
        columns = {name: self.columns[name] for name in names if name not in self.sets}
        return Table(columns, self.rows, {name: self.sets[name] for name in names if name in self.sets})

    def take(self, rows: npt.NDArray[Any]) -> Table:
        """Return the rows at these positions, or under this boolean mask; they keep their source row numbers."""
        sets = {n: s.take(rows) for n, s in self.sets.items()}
        return Table({n: c.take(rows) for n, c in self.columns.items()}, self.rows[rows], sets)

    def replaced(self, changed: Mapping[str, Column]) -> Table:
        """Return the table with these columns replaced in place, or added at the end."""
        return Table({**self.columns, **changed}, self.rows, self.sets)

    def resettled(self, changed: Mapping[str, SetColumn]) -> Table:
        """Return the table with these set columns replaced in place, or added at the end."""
        return Table(self.columns, self.rows, {**self.sets, **changed})


def stacked_columns(columns: Sequence[Column]) -> Column:
    """Return the cells of columns, one column after the other: numbers where all that have cells are of one type."""
    numeric = [c for c in columns if isinstance(c, NumericColumn)]
    if (
        numeric
        and all(isinstance(c, NumericColumn) or not len(c) for c in columns)
        and len({c.kind for c in numeric}) == 1
    ):
        return stacked_numbers(numeric)
    return stacked_texts(columns)


def concat(parts: Iterable[Table]) -> Table:
    """Stack partitions with the same column names, in order. Raises ValueError for none, or for unlike names."""
    tables = list(parts)
    if not tables:
        raise ValueError("there must be one partition at least, and there are none")
    names = tables[0].names
    if any(t.names != names or tuple(t.sets) != tuple(tables[0].sets) for t in tables):
        raise ValueError(f"partitions must have the same columns, and have {sorted({str(t.names) for t in tables})}")
    if len(tables) == 1:
        return tables[0]
    columns: dict[str, Column] = {}
    for name in tables[0].columns:
        columns[name] = stacked_columns([t[name] for t in tables])
    sets = {name: stacked([t.sets[name] for t in tables]) for name in tables[0].sets}
    return Table(columns, np.concatenate([t.rows for t in tables]), sets)
