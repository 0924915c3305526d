"""The discretised UCI datasets that KRIMP's authors use: Coenen's, in the format of their program (``.db``)."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ppdm_flow.mining.itemsets.database import ItemDatabase


@dataclass(frozen=True, eq=False)
class Table:
    """``cells`` (rows, columns) int32: the item in each column, as the file numbers it; ``place`` (items,): its column.

    The class is the last column. Every row has an item in every column.
    """

    cells: np.ndarray
    place: np.ndarray

    @classmethod
    def read(cls, path: Path) -> Table:
        with gzip.open(path, "rt") as file:
            lines = [line.partition(":") for line in file]
        (columns,) = (text for name, _, text in lines if name == "cd")
        domains = [[int(item) for item in words.split()] for words in columns.split(",")]
        place = np.empty(sum(map(len, domains)), dtype=np.int32)
        for column, items in enumerate(domains):
            place[items] = column
        rows = np.array([[int(i) for i in text.split()] for name, _, text in lines if name.isdigit()], dtype=np.int32)
        cells = np.full((len(rows), len(domains)), -1, dtype=np.int32)
        np.put_along_axis(cells, place[rows].astype(np.int64), rows, axis=1)
        if rows.shape[1] != len(domains) or (cells < 0).any():
            raise ValueError(f"{path.name}: a row without an item in some column")
        return cls(cells, place)

    @property
    def items(self) -> int:
        return len(self.place)

    def renumbered(self, number: np.ndarray) -> Table:
        """Return the same table with ``number[i]``, a permutation, as the number of item i."""
        place = np.empty_like(self.place)
        place[number] = self.place
        return Table(number.astype(np.int32)[self.cells], place)

    @property
    def database(self) -> ItemDatabase:
        return self.of(self.cells)

    def of(self, cells: np.ndarray) -> ItemDatabase:
        """Return other rows over the same items."""
        return ItemDatabase.of_cells(cells, self.place)
