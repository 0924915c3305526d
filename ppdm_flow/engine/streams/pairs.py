"""Original and released rows side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ppdm_flow.engine.streams.stream import Stream, positions
from ppdm_flow.sdk.paired_relation import pair_counts
from ppdm_flow.tables.counts import Counts
from ppdm_flow.tables.table import Table, concat


class StreamPairs:
    """A PairedView over two streams with row numbers of one kind, the released one before it is shuffled.

    ``aligned`` says that both yield their rows in ascending order: then neither is ever held as a whole.
    """

    def __init__(self, original: Stream, released: Stream, *, aligned: bool) -> None:
        self._original = original
        self._released = released
        self._aligned = aligned

    def pairs(self, original: Sequence[str], released: Sequence[str]) -> Iterator[tuple[Table, Table]]:
        """Yield aligned partitions: row i of one is row i of the other."""
        left = (p.table for p in self._original.parts(list(original)))
        right = (p.table for p in self._released.parts(list(released)))
        return _merged(left, right) if self._aligned else _looked_up(left, right)

    def joint(self, original: str, released: str) -> Counts:
        """Count (original value, released value) over all rows."""
        return self.counts([original], [released], ["original", "released"])

    def counts(
        self, original: Sequence[str], released: Sequence[str], names: Sequence[str], weight: str | None = None
    ) -> Counts:
        """Count the combinations of original values and released cells, under ``names``; ``weight`` is released."""
        return pair_counts(self, original, released, names, weight)


def _merged(left: Iterator[Table], right: Iterator[Table]) -> Iterator[tuple[Table, Table]]:
    """Join two ascending sequences of partitions; at most a few partitions are held."""
    held: Table | None = None
    for table in right:
        while held is None or not len(held) or held.rows[-1] < table.rows[-1]:
            more = next(left, None)
            if more is None:
                break
            held = more if held is None or not len(held) else concat([held, more])
        if held is None:
            return
        if np.array_equal(held.rows, table.rows):  # so it is where neither side has dropped a row
            yield held, table
            held = None
            continue
        places = positions(held.rows, table.rows)
        there = places >= 0
        if there.any():
            yield held.take(places[there]), table.take(there) if not there.all() else table
        held = held.take(held.rows > table.rows[-1])


def _looked_up(left: Iterator[Table], right: Iterator[Table]) -> Iterator[tuple[Table, Table]]:
    """Join where the released rows come in any order: they are held whole."""
    parts = list(right)
    if not parts:
        return
    stacked = concat(parts)
    order = np.argsort(stacked.rows, kind="stable")
    stacked = stacked.take(order)
    for table in left:
        places = positions(stacked.rows, table.rows)
        there = places >= 0
        if there.any():
            yield table.take(there), stacked.take(places[there])
