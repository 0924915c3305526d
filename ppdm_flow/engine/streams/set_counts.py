"""What the original's sets are like: how many, how long, over which alphabet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from ppdm_flow.tables.domain import union
from ppdm_flow.tables.sets import Baskets
from ppdm_flow.tables.sets.packed import words_for
from ppdm_flow.tables.table import Table


@dataclass(slots=True)
class SetCounts:
    """``items`` are occurrences, ``alphabet`` the distinct items that occur, ``repeated`` repetitions left out."""

    name: str
    rows: int = 0
    items: int = 0
    empty: int = 0
    longest: int = 0
    repeated: int = 0
    alphabet: pa.StringArray = field(default_factory=lambda: pa.array([], pa.string()))
    by_size: Counter[int] = field(default_factory=Counter)

    def look(self, table: Table) -> None:
        """Take in a partition."""
        column = table.sets.get(self.name)
        if not isinstance(column, Baskets) or not len(column):
            return
        sizes = column.sizes
        self.rows += len(column)
        self.items += len(column.items)
        self.empty += int((sizes == 0).sum())
        self.longest = max(self.longest, int(sizes.max()))
        distinct_sizes, many = np.unique(sizes, return_counts=True)
        self.by_size.update(dict(zip(distinct_sizes.tolist(), many.tolist(), strict=True)))
        self.alphabet = union([self.alphabet, column.compact().categories])

    @property
    def alone(self) -> int:
        """Sets of a size that no other has."""
        return sum(number == 1 for number in self.by_size.values())

    @property
    def mean(self) -> float:
        """Items a set."""
        return self.items / self.rows if self.rows else 0.0

    def document(self) -> Mapping[str, Any]:
        """Return the JSON form: counts, and no item."""
        return {
            "attribute": self.name,
            "sets": self.rows,
            "items": self.items,
            "distinct_items": len(self.alphabet),
            "empty_sets": self.empty,
            "longest_set": self.longest,
            "repeated_items_merged": self.repeated,
            "alone_by_size": self.alone,
        }


@dataclass(frozen=True, slots=True)
class SetSize:
    """Bytes of the set column of a released file, before compression."""

    release: str
    form: str
    octets: int


def octets(form: str, rows: int, distinct: int, mean: float) -> int:
    """Return about how many bytes ``rows`` sets take: as ``lists`` of codes, or as ``bits`` of the whole alphabet."""
    if form == "bits":
        return rows * (8 * words_for(distinct) + 4)
    code = max(1, (max(2, distinct) - 1).bit_length())
    return int(rows * (1 + mean * code / 8))
