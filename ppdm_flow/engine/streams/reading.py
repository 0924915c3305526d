"""How rows are read, which listeners see them, and the memory that they may take."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol, Self, runtime_checkable

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.engine.streams.checks import zero_weight_mask
from ppdm_flow.tables.numeric.column import missing_mask
from ppdm_flow.tables.table import Table


class PartitionObserver(Protocol):
    """Sees each partition once, in the order of rows.

    Where rows are read in several places, each place has a copy that has seen nothing yet, and what the copies saw is
    added up in the order of rows.
    """

    def look(self, table: Table) -> None:
        """Take in a partition. Raises DataError where it is not as it has to be."""
        ...

    def add(self, later: Self) -> None:
        """Take in what a copy saw of the rows that follow. Raises DataError as above."""
        ...


@runtime_checkable
class SeparableLook(PartitionObserver, Protocol):
    """A look for which the rows before a partition do not matter: any thread may take in one of them."""

    def unseen(self) -> Self:
        """Return one that has seen nothing."""
        ...


@dataclass(frozen=True, slots=True)
class PartitionCheck:
    """A look that remembers nothing: it raises DataError, or does not."""

    check: Callable[[Table], None]

    def unseen(self) -> PartitionCheck:
        """Return itself: it has never seen anything."""
        return self

    def look(self, table: Table) -> None:
        """Check a partition."""
        self.check(table)

    def add(self, later: PartitionCheck) -> None:
        """Do nothing: what another one checked is checked."""


class Budget:
    """Bytes that all caches of a run share."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._left = limit
        self._lock = threading.Lock()

    def take(self, size: int) -> bool:
        """Take ``size`` bytes, if they are left."""
        with self._lock:
            if size > self._left:
                return False
            self._left -= size
            return True

    def give(self, size: int) -> None:
        """Give bytes back."""
        with self._lock:
            self._left += size


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """Options for reading a file: the reader's name of each attribute's column, missing values, sizes.

    ``released`` files have ``⊥`` for suppressed cells; ``foreign`` ones of them were written by another tool.
    ``incomplete`` are the attributes in which a missing value drops the row. A row with ``weight`` 0 counts nobody and
    is dropped as well. ``typed`` are attributes that are read as numbers besides those of the stream.
    ``normalize`` are the differences between spellings that are taken away before anything else is looked at.
    ``number_spelling`` are the options of the file's reader, by name, that say how its numbers are spelled.
    """

    columns: Mapping[str, str]
    missing: tuple[str, ...] = ()
    partition_rows: int = 262_144
    released: bool = False
    incomplete: tuple[str, ...] = ()
    weight: str | None = None
    who: str = "the source"
    foreign: bool = False
    typed: tuple[AttributeFacts, ...] = ()
    normalize: tuple[str, ...] = ()
    number_spelling: tuple[str, ...] = ()

    @property
    def selects(self) -> bool:
        """Whether some rows may be dropped."""
        return bool(self.incomplete) or self.weight is not None

    def kept(self, table: Table) -> npt.NDArray[np.bool_]:
        """Return which rows are complete and count somebody, shape (rows,)."""
        mask = np.ones(len(table), dtype=bool)
        for name in self.incomplete:
            if name in table.columns:  # a set may be empty, but is never missing
                mask &= ~missing_mask(table[name])
        if self.weight is not None:
            mask &= ~zero_weight_mask(table[self.weight])
        return mask
