"""What an algorithm may ask of the data, whatever engine holds it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol, runtime_checkable

import pyarrow as pa

from ppdm_flow.tables.counts import Counts
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
