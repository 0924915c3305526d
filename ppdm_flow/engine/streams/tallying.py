"""Counts combinations in a file of any size, a partition at a time, and describes its sets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.core.errors import unknown_column
from ppdm_flow.engine.faults import wrap_plugin_errors
from ppdm_flow.engine.streams.coding import mark_texts
from ppdm_flow.engine.streams.rebatching import partitions
from ppdm_flow.sdk.storage import Source
from ppdm_flow.tables.column import MISSING, SUPPRESSED, SUPPRESSED_TEXT, Column, union
from ppdm_flow.tables.counts import Counts, count, merge
from ppdm_flow.tables.sets import Baskets
from ppdm_flow.tables.sets.packed import words_for
from ppdm_flow.tables.table import Table

Wanted = Mapping[str, Sequence[str]]

_ROWS = 262_144
_AT_ONCE = 16


def tally(source: Source, columns: Sequence[str], wanted: Wanted, who: str) -> Counts | None:
    """Count the combinations of ``columns`` in a released file, over the rows that have one of the ``wanted`` texts.

    Among a column's wanted texts ``""`` also matches a missing value, and ``⊥`` a suppressed cell. Returns None where
    no row fits. Raises DataError for a column that is not there, or a file that cannot be read.
    """
    with wrap_plugin_errors(who):
        known = source.names()
    needed = tuple(dict.fromkeys((*columns, *wanted)))
    for name in needed:
        if name not in known:
            raise unknown_column("PPF763", name, known, where=who)
    waiting: list[Counts] = []
    for table in _tables(source, needed, who):
        chosen = table.take(_fits(table, wanted)) if wanted else table
        if len(chosen):
            waiting.append(count(chosen, columns))
        if len(waiting) == _AT_ONCE:
            waiting = [merge(waiting)]
    return merge(waiting) if waiting else None


def _tables(source: Source, names: tuple[str, ...], who: str) -> Iterator[Table]:
    with wrap_plugin_errors(who):
        for table in partitions(source.batches(names), names, _ROWS):
            yield Table({n: mark_texts(c, [SUPPRESSED_TEXT], SUPPRESSED) for n, c in table.columns.items()}, table.rows)


def _fits(table: Table, wanted: Wanted) -> npt.NDArray[np.bool_]:
    mask = np.ones(len(table), dtype=bool)
    for name, texts in wanted.items():
        mask &= _one_of(table[name], texts)
    return mask


def _one_of(column: Column, texts: Sequence[str]) -> npt.NDArray[np.bool_]:
    hit = pc.is_in(column.categories, value_set=pa.array(list(texts), pa.string())).to_numpy(zero_copy_only=False)
    special = np.zeros(2, dtype=bool)
    special[SUPPRESSED] = SUPPRESSED_TEXT in texts
    special[MISSING] = "" in texts
    return np.concatenate([hit.astype(bool), special])[column.codes]


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

    def add(self, later: SetCounts) -> None:
        """Take in the counts of the rows that follow."""
        self.rows += later.rows
        self.items += later.items
        self.empty += later.empty
        self.longest = max(self.longest, later.longest)
        self.by_size.update(later.by_size)
        self.alphabet = union([self.alphabet, later.alphabet])

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
