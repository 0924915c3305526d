"""A table, or one partition of it: coded columns and the source row number of every row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.tables.column import Column
from ppdm_flow.tables.domain import union

RowNumbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """``columns`` in order, each of length ``len(rows)``; ``rows`` are global source row numbers, from 0.

    Row numbers travel with the rows through every step: draws are addressed by them, audits pair by them.
    """

    columns: Mapping[str, Column]
    rows: RowNumbers

    def __post_init__(self) -> None:
        for name, column in self.columns.items():
            if len(column) != len(self.rows):
                raise ValueError(f"column `{name}` has {len(column)} cells for {len(self.rows)} rows")

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, name: str) -> Column:
        return self.columns[name]

    @property
    def names(self) -> tuple[str, ...]:
        """The column names, in order."""
        return tuple(self.columns)

    @classmethod
    def of(cls, columns: Mapping[str, list[str | None]], start: int = 0) -> Table:
        """Build a small table from lists of texts (tests and examples)."""
        built = {name: Column.of(values) for name, values in columns.items()}
        size = len(next(iter(built.values()))) if built else 0
        return cls(built, np.arange(start, start + size, dtype=np.int64))

    def select(self, names: Sequence[str]) -> Table:
        """Return these columns, in this order."""
        return Table({name: self.columns[name] for name in names}, self.rows)

    def take(self, rows: npt.NDArray[Any]) -> Table:
        """Return the rows at these positions, or under this boolean mask; they keep their source row numbers."""
        return Table({n: c.take(rows) for n, c in self.columns.items()}, self.rows[rows])

    def replaced(self, changed: Mapping[str, Column]) -> Table:
        """Return the table with these columns replaced in place, or added at the end."""
        return Table({**self.columns, **changed}, self.rows)


def concat(parts: Iterable[Table]) -> Table:
    """Stack partitions with the same column names, in order. Raises ValueError for none, or for unlike names."""
    tables = list(parts)
    if not tables:
        raise ValueError("no partitions to stack")
    names = tables[0].names
    if any(t.names != names for t in tables):
        raise ValueError("partitions with unlike columns")
    if len(tables) == 1:
        return tables[0]
    columns: dict[str, Column] = {}
    for name in names:
        categories: pa.StringArray = union(t[name].categories for t in tables)
        codes = np.concatenate([t[name].onto(categories).codes for t in tables])
        columns[name] = Column(codes, categories)
    return Table(columns, np.concatenate([t.rows for t in tables]))
