"""Tables that need not fit into memory: partitions, made when they are asked for."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.errors import RunError
from ppdm_flow.engine.faults import run_fault
from ppdm_flow.tables.schema import Field, Schema
from ppdm_flow.tables.table import RowNumbers, Table

Keys = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """One partition; ``keys`` are the order that an earlier step asked for, still to be carried out."""

    table: Table
    keys: Keys | None = None

    def kept(self, table: Table) -> Part:
        """Return ``table``, made of some of these rows in their order, with the keys of the rows that stayed."""
        if self.keys is None or table.rows is self.table.rows:
            return Part(table, self.keys)
        return Part(table, self.keys[positions(self.table.rows, table.rows)])


def positions(rows: RowNumbers, wanted: RowNumbers) -> npt.NDArray[np.int64]:
    """Return where each of ``wanted`` stands in ``rows``, -1 for those that are not there."""
    if len(rows) == 0:
        return np.full(len(wanted), -1, dtype=np.int64)
    order = None if bool((rows[1:] > rows[:-1]).all()) else np.argsort(rows, kind="stable")
    places = np.minimum(np.searchsorted(rows, wanted, sorter=order), len(rows) - 1)
    if order is not None:
        places = order[places]
    positions_or_minus_one: npt.NDArray[np.int64] = np.where(rows[places] == wanted, places, -1).astype(np.int64)
    return positions_or_minus_one


class Stream(Protocol):
    """A table in partitions; asking twice gives the same."""

    attributes: tuple[AttributeFacts, ...]

    def parts(self, columns: Sequence[str] | None = None) -> Iterator[Part]:
        """Yield the partitions with these columns (all where None), in the order of rows."""
        ...


@runtime_checkable
class CountedStream(Protocol):
    """A stream that knows its number of rows; of others the rows are counted."""

    @property
    def row_count(self) -> int:
        """The number of physical rows."""
        ...


class ReadBack(Stream, Protocol):
    """The rows that audits judge: those of a file, or of a table that is in none."""

    @property
    def longest_line(self) -> int:
        """The most bytes that a row can take as a line of CSV; 0 where there is no file."""
        ...


def schema_of(attributes: Sequence[AttributeFacts]) -> Schema:
    """Return the schema that plugins see."""
    return Schema(tuple(Field(a.name, a.role, a.type, a.domain, a.is_numeric) for a in attributes))


class Stop:
    """Tells every thread of a run to end at its next partition."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def set(self) -> None:
        """Ask to end."""
        self._event.set()

    def check(self) -> None:
        """Raise where someone asked to end."""
        if self._event.is_set():
            raise StoppedError(run_fault("PPF907", "stopped, because another part of the run failed").diagnostics)


class StoppedError(RunError):
    """Work that was given up; never the reason that a run fails for."""
