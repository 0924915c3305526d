"""Text files of one set a line, without a header: what their readers have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Generic, TypeVar

import pyarrow as pa

from ppdm_flow.sources import item_sets
from ppdm_flow.sources.gzipped import is_gzip
from ppdm_flow.sources.lines import Block, blocks
from ppdm_flow.tables.sets import Baskets

P = TypeVar("P")


class SetLines(ABC, Generic[P]):
    """One file, read block by block. ``repeated`` counts the repetitions that the last pass left out."""

    def __init__(self, params: P, path: Path) -> None:
        self.params = params
        self.path = path
        self.repeated = 0

    @abstractmethod
    def baskets(self, block: Block) -> Baskets:
        """Return the sets of a block. Raises DataError with the line."""

    def names(self) -> tuple[str, ...]:
        """Return the one name: there is no header. Raises DataError where the file cannot be read."""
        is_gzip(self.path)
        return (item_sets.NAME,)

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the sets. Raises DataError with the line."""
        self.repeated = 0
        for block in blocks(self.path):
            yield item_sets.listed(self.baskets(block), columns)
