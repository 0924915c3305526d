"""Weighted rows written out as single rows, under numbers that do not depend on partitions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.roles import Role
from ppdm_flow.engine.streams.stream import Part, Stream
from ppdm_flow.tables.counts import weights_of
from ppdm_flow.tables.table import Table


class Numbering:
    """The number of each source row's first copy: the sum of the weights of all rows before it."""

    def __init__(self, weight: str) -> None:
        self.weight = weight
        self._pieces: list[npt.NDArray[np.int64]] = []
        self._starts: npt.NDArray[np.int64] | None = None
        self._rows = 0

    def look(self, table: Table) -> None:
        """Take in the next partition of the source."""
        if len(table):
            end = int(table.rows[-1]) + 1
            piece = np.zeros(end - self._rows, dtype=np.int64)
            piece[table.rows - self._rows] = weights_of(table[self.weight])
            self._pieces.append(piece)
            self._rows = end

    def first(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the number of the first copy of each row."""
        if self._starts is None:
            weights = np.concatenate([np.zeros(1, dtype=np.int64), *self._pieces])
            self._starts = np.cumsum(weights)[:-1]
            self._pieces = []
        return self._starts[rows]


class ExpandedStream:
    """Each row as often as its weight says; the weight column is gone."""

    def __init__(self, source: Stream, numbering: Numbering) -> None:
        self.attributes: tuple[AttributeFacts, ...] = tuple(a for a in source.attributes if a.role is not Role.WEIGHT)
        self._source = source
        self._numbering = numbering

    def parts(self, columns: Sequence[str] | None = None) -> Iterator[Part]:
        """Yield the expanded partitions."""
        names = [a.name for a in self.attributes] if columns is None else list(columns)
        wanted = list(dict.fromkeys((*names, self._numbering.weight)))
        for part in self._source.parts(wanted):
            table = part.table
            weights = weights_of(table[self._numbering.weight])
            copies = np.repeat(np.arange(len(table)), weights)
            within = np.arange(len(copies)) - np.repeat(np.cumsum(weights) - weights, weights)
            rows = self._numbering.first(table.rows)[copies] + within
            copied = table.select(names).take(copies)
            out = Table(copied.columns, rows, copied.sets)
            yield Part(out, None if part.keys is None else part.keys[copies])
