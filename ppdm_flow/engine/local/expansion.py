"""Weighted rows written out as single rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.roles import Role
from ppdm_flow.engine.streams.numbering import Numbering
from ppdm_flow.engine.streams.stream import PartJob, Stream, StreamPart, jobs_of, parts_of, workers_of
from ppdm_flow.tables.counts import weights_of
from ppdm_flow.tables.table import Table


class ExpandedStream:
    """Each row as often as its weight says; the weight column is gone."""

    def __init__(self, source: Stream, numbering: Numbering) -> None:
        self.attributes: tuple[AttributeFacts, ...] = tuple(a for a in source.attributes if a.role is not Role.WEIGHT)
        self.workers = workers_of(source)
        self._source = source
        self._numbering = numbering

    def parts(self, columns: Sequence[str] | None = None) -> Iterator[StreamPart]:
        """Yield the expanded partitions."""
        return parts_of(self, columns)

    def jobs(self, columns: Sequence[str] | None = None) -> Iterator[PartJob]:
        """Yield what makes the same partitions."""
        names = [a.name for a in self.attributes] if columns is None else list(columns)
        wanted = list(dict.fromkeys((*names, self._numbering.weight)))
        return (partial(self._expanded, job, names) for job in jobs_of(self._source, wanted))

    def _expanded(self, job: PartJob, names: Sequence[str]) -> StreamPart | None:
        part = job()
        if part is None:
            return None
        table = part.table
        weights = weights_of(table[self._numbering.weight])
        copies = np.repeat(np.arange(len(table)), weights)
        within = np.arange(len(copies)) - np.repeat(np.cumsum(weights) - weights, weights)
        rows = self._numbering.first(table.rows)[copies] + within
        copied = table.select(names).take(copies)
        out = Table(copied.columns, rows, copied.sets)
        return StreamPart(out, None if part.keys is None else part.keys[copies])
