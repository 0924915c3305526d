"""The place of a combination of values among all that occur."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.tables.column import SPECIALS, Column
from ppdm_flow.tables.counts import Counts

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """Combinations in the order of their values, first column first: suppressed, missing, then texts in binary order.

    ``keys[i]`` are, ascending, the pairs (place by the columns before, value of column i) that occur, as one number
    each; the place of a pair among them is the place by the columns so far.
    """

    columns: tuple[str, ...]
    domains: tuple[tuple[str, ...], ...]
    keys: tuple[Integers, ...]

    def __len__(self) -> int:
        return len(self.keys[-1])

    @classmethod
    def of(cls, counts: Counts) -> Ranking:
        """Take in the combinations that occur."""
        place = np.zeros(len(counts), dtype=np.int64)
        keys = []
        for name in counts.columns:
            pairs = place * (len(counts.names(name)) + SPECIALS) + counts.of(name) + SPECIALS
            distinct, place = np.unique(pairs, return_inverse=True)
            keys.append(distinct)
        domains = tuple(tuple(counts.names(name).to_pylist()) for name in counts.columns)
        return cls(counts.columns, domains, tuple(keys))

    def places(self, columns: Mapping[str, Column]) -> Integers:
        """Return the place of each row's combination, shape (rows,), from 0; -1 for one that did not occur."""
        place = np.zeros(len(columns[self.columns[0]]), dtype=np.int64)
        lost = np.zeros(len(place), dtype=bool)
        for name, domain, keys in zip(self.columns, self.domains, self.keys, strict=True):
            column = columns[name]
            known = pc.index_in(column.categories, value_set=pa.array(domain, pa.string())).fill_null(-SPECIALS - 1)
            table = np.concatenate([known.to_numpy(zero_copy_only=False).astype(np.int64), [-SPECIALS, 1 - SPECIALS]])
            pairs = place * (len(domain) + SPECIALS) + table[column.codes] + SPECIALS
            lost |= table[column.codes] < -SPECIALS
            place = np.searchsorted(keys, pairs)
            lost |= keys[np.minimum(place, len(keys) - 1)] != pairs if len(keys) else True
        place[lost] = -1
        return place
