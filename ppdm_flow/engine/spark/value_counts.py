"""Counts that are taken while a source is read: of columns of few values, each by itself and some together."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from ppdm_flow.tables.counts import Counts, count, merge
from ppdm_flow.tables.numeric.column import NumericColumn
from ppdm_flow.tables.table import Table

_MOST_WIDER = 1 << 15
"""Combinations that there may be of columns that are counted besides: Spark counts over 65,536 half as fast."""


def product(columns: Iterable[str], sizes: Mapping[str, int]) -> int:
    """Return how many combinations there may be of columns, of which any cell may be missing besides."""
    return math.prod(sizes[name] + 1 for name in columns)


def widened(columns: frozenset[str], sizes: Mapping[str, int]) -> frozenset[str] | None:
    """Return the columns and all that can be counted with them at little cost; None where one has many values.

    ``sizes`` are the numbers of values of those that have few.
    """
    if not columns <= sizes.keys():
        return None
    wider, combinations = set(columns), product(columns, sizes)
    for name in sorted(sizes.keys() - columns, key=lambda name: (sizes[name], name)):
        combinations *= sizes[name] + 1
        if combinations > _MOST_WIDER:
            break
        wider.add(name)
    return frozenset(wider)


class PartitionedColumnCounts:
    """Counts the values of each column as partitions pass; None for a column of more than ``most`` values.

    ``together``: the columns ``first`` and those that add few combinations to theirs, as the first partition has them;
    None where there are more than a few.
    """

    def __init__(self, names: Sequence[str], most: int, first: frozenset[str] = frozenset()) -> None:
        self.counts: dict[str, Counts | None] = {n: count(Table.of({n: []}), [n]) for n in names}
        self.together: Counts | None = None
        self._names: tuple[str, ...] | None = None if first else ()
        self._first = first
        self._most = most

    def look(self, table: Table) -> None:
        """Take in a partition."""
        for name, so_far in self.counts.items():
            if so_far is not None and name in table.columns:
                column = table[name]  # its categories are those that occur
                few = isinstance(column, NumericColumn) or len(column.categories) <= self._most
                merged = merge([so_far, count(table, [name])]) if few else None
                self.counts[name] = merged if merged is not None and len(merged) <= self._most else None
        if self._names is None and len(table):
            self._names = self._chosen()
        if self._names:
            counts = count(table, self._names)
            self.together = counts if self.together is None else merge([self.together, counts])
            if len(self.together) > _MOST_WIDER:  # later partitions have other values
                self.together, self._names = None, ()

    def add(self, later: PartitionedColumnCounts) -> None:
        """Take in what another one counted."""
        for name, counts in later.counts.items():
            so_far = self.counts[name]
            self.counts[name] = None if so_far is None or counts is None else merge([so_far, counts])
        gathered = GatheredCounts()
        for each in (self, later):
            gathered.take({}, each.together)
        self.together = next(iter(gathered.together()), None)

    def _chosen(self) -> tuple[str, ...]:
        """Return the columns to count together, in the order of the table; none where there may be many."""
        sizes = {name: len(each) for name, each in self.counts.items() if each is not None}
        if not self._first <= sizes.keys() or product(self._first, sizes) > _MOST_WIDER:
            return ()
        wider = widened(self._first, sizes) or frozenset()
        return tuple(name for name in self.counts if name in wider)


class GatheredCounts:
    """The counts of all fragments, by column; those of a column with too many values are let go."""

    def __init__(self) -> None:
        self._parts: dict[str, list[Counts] | None] = {}
        self._together: list[Counts | None] = []

    def take(self, counts: Mapping[str, Counts | None], together: Counts | None) -> None:
        """Take in what was counted in a fragment."""
        self._together.append(together)
        for name, each in counts.items():
            parts = self._parts.setdefault(name, [])
            if each is None:
                self._parts[name] = None
            elif parts is not None:
                parts.append(each)

    def counts(self) -> Mapping[str, Counts]:
        """Return the counts of single columns."""
        return {name: merge(parts) for name, parts in self._parts.items() if parts}

    def together(self) -> list[Counts]:
        """Return the counts of columns together, if all fragments have counted them."""
        every = [counts for counts in self._together if counts is not None]
        if not every or len(every) < len(self._together):
            return []
        common = [name for name in every[0].columns if all(name in each.columns for each in every)]
        return [merge(each.project(common) for each in every)] if common else []
