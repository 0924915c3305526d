"""Views as plugins of other distributions get them: over memory that cannot be written to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from ppdm_flow.sdk.view import DataView, PairedView
from ppdm_flow.tables.buffers import frozen_texts
from ppdm_flow.tables.counts import Counts
from ppdm_flow.tables.frozen import frozen_counts, frozen_table
from ppdm_flow.tables.schema import Schema
from ppdm_flow.tables.table import Table


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
