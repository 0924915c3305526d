"""The questions that an algorithm may ask of the data, on any engine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import pyarrow as pa

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.sdk.holdout import Holdout
from ppdm_flow.tables.buffers import frozen_texts
from ppdm_flow.tables.counts import Counts
from ppdm_flow.tables.frozen import frozen_counts, frozen_table
from ppdm_flow.tables.schema import Schema
from ppdm_flow.tables.table import Table


class DataView(Protocol):
    """A table that need not fit into memory. Asking twice gives the same answer."""

    @property
    def schema(self) -> Schema:
        """The columns, their roles and types."""
        ...

    @property
    def row_count(self) -> int:
        """The number of physical rows (a weighted row is one)."""
        ...

    def counts(self, columns: Sequence[str]) -> Counts:
        """Return distinct combinations with counts; a weight column counts as that many rows."""
        ...

    def domain(self, column: str) -> pa.StringArray:
        """Return the values that occur in ``column``, sorted, without missing and suppressed ones."""
        ...

    def sample(self, size: int, columns: Sequence[str] | None = None) -> Table:
        """Return at most ``size`` rows, evenly spaced over the table: the same ones every time.

        ``columns`` are all where None; on large tables those that nobody looks at cost a pass over their texts.
        """
        ...

    def table(self, columns: Sequence[str] | None = None) -> Table:
        """Return the whole table: only for algorithms that cannot do without."""
        ...

    def partitions(self, columns: Sequence[str] | None = None) -> Iterator[Table]:
        """Yield the table a partition at a time, in order."""
        ...


@runtime_checkable
class EachCountingView(Protocol):
    """A view that counts several columns in one pass."""

    def count_each(self, columns: Sequence[str]) -> None:
        """Count each of these columns by itself: ``counts`` has them at hand then."""
        ...


def count_each(view: DataView, columns: Sequence[str]) -> None:
    """Let a view that can do so count each of these columns in one pass, before they are asked for one by one."""
    if isinstance(view, EachCountingView):
        view.count_each(columns)


class PairedView(Protocol):
    """Original and released rows side by side, matched by source row number; rows that a step dropped are left out."""

    def pairs(self, original: Sequence[str], released: Sequence[str]) -> Iterator[tuple[Table, Table]]:
        """Yield aligned partitions: row i of one is row i of the other."""
        ...

    def joint(self, original: str, released: str) -> Counts:
        """Count (original value, released value) over all rows; columns are named ``original`` and ``released``."""
        ...


@runtime_checkable
class CountingPairs(PairedView, Protocol):
    """A PairedView that counts combinations where its rows are."""

    def counts(
        self, original: Sequence[str], released: Sequence[str], names: Sequence[str], weight: str | None = None
    ) -> Counts:
        """Count the combinations of original values and released cells over all rows.

        Columns of the result are called ``names``, those of the source first; ``weight`` is a released column.
        """
        ...


@dataclass(frozen=True, slots=True)
class Generation:
    """The last generator on the way to a release.

    ``made`` has its rows beside the released ones, ``source`` the source's rows beside those that it read; None where
    that were generated rows too. It did not learn from the ``holdout``. ``inputs`` and ``outputs`` are the columns that
    it read and made. ``weight`` is the source's column of weights, where rows still have one.
    """

    made: PairedView
    source: PairedView | None
    inputs: Mapping[str, AttributeFacts]
    outputs: Mapping[str, AttributeFacts]
    holdout: Holdout | None = None
    weight: str | None = None

    def learned(self, source: Sequence[str], inputs: Sequence[str]) -> Iterator[tuple[Table, Table]]:
        """Yield the rows that it learned from: source rows with these columns, and their changes on the way."""
        if self.source is None:
            return
        for left, right in self.source.pairs(source, inputs):
            if self.holdout is None:
                yield left, right
            else:
                kept = ~self.holdout.held_out(right.rows)
                yield left.take(kept), right.take(kept)


def share_of(view: DataView, attribute: str, value: str, people: int) -> float | None:
    """Return the share of the people who have a value of an attribute; None where there is no such column."""
    if attribute not in view.schema or not people:
        return None
    counts = view.counts([attribute])
    code = counts.code(attribute, value)
    if code is None:
        return 0.0
    return float(counts.counts[counts.of(attribute) == code].sum() / people)


class LentView:
    """A DataView whose answers cannot be written to: some of them are remembered, and others get them too."""

    def __init__(self, view: DataView) -> None:
        self._view = view

    @property
    def schema(self) -> Schema:
        """The columns, their roles and types."""
        return self._view.schema

    @property
    def row_count(self) -> int:
        """The number of physical rows."""
        return self._view.row_count

    def counts(self, columns: Sequence[str]) -> Counts:
        """Return distinct combinations with counts."""
        return frozen_counts(self._view.counts(columns))

    def domain(self, column: str) -> pa.StringArray:
        """Return the values that occur in ``column``."""
        return frozen_texts(self._view.domain(column))

    def sample(self, size: int, columns: Sequence[str] | None = None) -> Table:
        """Return at most ``size`` rows."""
        return frozen_table(self._view.sample(size, columns))

    def table(self, columns: Sequence[str] | None = None) -> Table:
        """Return the whole table."""
        return frozen_table(self._view.table(columns))

    def partitions(self, columns: Sequence[str] | None = None) -> Iterator[Table]:
        """Yield the table a partition at a time."""
        return map(frozen_table, self._view.partitions(columns))


class LentPairs:
    """A PairedView whose answers cannot be written to."""

    def __init__(self, pairs: PairedView) -> None:
        self._pairs = pairs

    def pairs(self, original: Sequence[str], released: Sequence[str]) -> Iterator[tuple[Table, Table]]:
        """Yield aligned partitions."""
        return ((frozen_table(a), frozen_table(b)) for a, b in self._pairs.pairs(original, released))

    def joint(self, original: str, released: str) -> Counts:
        """Count pairs of values over all rows."""
        return frozen_counts(self._pairs.joint(original, released))
