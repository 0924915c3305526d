"""Original and released rows side by side, with their counts; kept since several audits ask for them."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence

import numpy as np

from ppdm_flow.sdk.paired_relation import pair_counts
from ppdm_flow.sdk.view import PairedView
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.counts import Counts
from ppdm_flow.tables.table import Table, concat

MOST_ROWS = 1 << 22
"""Rows up to which columns are kept, 4 bytes a cell; of more they are read again each time."""
READ_AHEAD = 1 << 23
"""Cells of each side that are read in one pass: for one column a step often makes all of them."""
KEPT = 1 << 25
"""Cells above which those that were kept are forgotten before more are read."""
_MOST_CELLS = 1 << 20
"""Pairs of values whose counts are kept, of all columns together: 16 bytes each."""
_AT_ONCE = 1 << 20
"""Rows that are yielded at once: each part is counted by itself, and the counts of parts are merged."""


class RememberedPairs:
    """A PairedView that keeps the columns of another one; ``sets`` are columns, of either side, that it does not.

    ``original_names`` and ``released_names`` are the other columns of either side, in their order.
    """

    def __init__(
        self, inner: PairedView, sets: frozenset[str], original_names: Sequence[str], released_names: Sequence[str]
    ) -> None:
        self._inner = inner
        self._sets = sets
        self._all = original_names, released_names
        self._lock = threading.Lock()
        self._rows: np.ndarray[tuple[int], np.dtype[np.int64]] | None = None
        self._columns: tuple[dict[str, Column], dict[str, Column]] = ({}, {})
        self._too_many = False
        self._joints: dict[tuple[str, str], Counts] = {}
        self._joint_lock = threading.Lock()

    def pairs(self, original: Sequence[str], released: Sequence[str]) -> Iterator[tuple[Table, Table]]:
        """Yield aligned partitions: row i of one is row i of the other."""
        if self._too_many or not self._sets.isdisjoint((*original, *released)):
            yield from self._inner.pairs(original, released)
            return
        with self._lock:
            self._learn(original, released)
            rows, (left, right) = self._rows, self._columns
            if not self._too_many and rows is not None:
                both = Table({n: left[n] for n in original}, rows), Table({n: right[n] for n in released}, rows)
        if self._too_many or rows is None:
            yield from self._inner.pairs(original, released)
            return
        for start in range(0, len(rows), _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            yield both[0].take(part), both[1].take(part)  # type: ignore[arg-type]  # a slice is a view

    def joint(self, original: str, released: str) -> Counts:
        """Count (original value, released value) over all rows; who asks for the same meanwhile waits for it."""
        with self._joint_lock:
            counts = self._joints.get((original, released))
            if counts is None:
                counts = self.counts([original], [released], ["original", "released"])
                if sum(map(len, self._joints.values())) + len(counts) <= _MOST_CELLS:
                    self._joints[original, released] = counts
        return counts

    def counts(
        self, original: Sequence[str], released: Sequence[str], names: Sequence[str], weight: str | None = None
    ) -> Counts:
        """Count the combinations of original values and released cells, under ``names``; ``weight`` is released."""
        return pair_counts(self, original, released, names, weight)

    def _learn(self, original: Sequence[str], released: Sequence[str]) -> None:
        """Read what is not there yet, and columns that will be asked for next."""
        left, right = self._columns
        if self._rows is not None:
            if left.keys() >= set(original) and right.keys() >= set(released):
                return
            if len(self._rows) * (len(left) + len(right)) > KEPT:
                self._columns = left, right = {}, {}
            most = READ_AHEAD // max(len(self._rows), 1)
            original, released = _followed(original, self._all[0], most), _followed(released, self._all[1], most)
        missing = (
            [n for n in dict.fromkeys(original) if n not in left],
            [n for n in dict.fromkeys(released) if n not in right],
        )
        parts: tuple[list[Table], list[Table]] = ([], [])
        size = 0
        for tables in self._inner.pairs(*missing):
            size += len(tables[0])
            if size > MOST_ROWS:
                self._too_many = True
                self._columns = ({}, {})
                return
            for part, table in zip(parts, tables, strict=True):
                part.append(table)
        if not parts[0]:
            return
        for columns, part in zip(self._columns, parts, strict=True):
            columns.update({name: column.compact() for name, column in concat(part).columns.items()})
        self._rows = np.concatenate([table.rows for table in parts[1]])


def _followed(requested: Sequence[str], columns: Sequence[str], most: int) -> list[str]:
    """Return the columns that were asked for, and those after the first of them, ``most`` at the most."""
    first = columns.index(requested[0]) if requested and requested[0] in columns else len(columns)
    return list(dict.fromkeys((*requested, *columns[first : first + most])))
