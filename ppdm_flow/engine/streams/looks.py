"""Partitions of a file as they are read, and what sees them: the threads that make them, or in the order of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from ppdm_flow.engine.streams.narrow import NarrowTable
from ppdm_flow.engine.streams.reading import PartitionObserver, SeparableLook
from ppdm_flow.engine.streams.stream import Places
from ppdm_flow.tables.table import Table


@dataclass(frozen=True, slots=True)
class ObservedPartition:
    """What the separable looks saw of one partition, or the error that one of them raised."""

    looks: tuple[SeparableLook, ...] = ()
    error: Exception | None = None


class Looks:
    """The looks of one pass. With ``apart``, those for which the order of partitions does not matter are separable."""

    def __init__(self, looks: Iterable[PartitionObserver], *, apart: bool) -> None:
        every = tuple(looks)
        self._separable = tuple(look for look in every if apart and isinstance(look, SeparableLook))
        self._ordered = tuple(look for look in every if look not in self._separable)

    def aside(self, table: Table) -> ObservedPartition:
        """Let the separable looks see a partition; any thread may do so."""
        own = tuple(look.unseen() for look in self._separable)
        try:
            for look in own:
                look.look(table)
        except Exception as error:  # noqa: BLE001  # raised where the partition comes in the order of rows
            return ObservedPartition(own, error)
        return ObservedPartition(own)

    def take(self, table: Table, seen: ObservedPartition) -> None:
        """Take in a partition in the order of rows, with what was seen of it aside. Raises DataError."""
        if seen.error is not None:
            raise seen.error
        for look, own in zip(self._separable, seen.looks, strict=True):
            look.add(own)
        for ordered in self._ordered:
            ordered.look(table)


NO_LOOKS = Looks((), apart=True)


@dataclass(frozen=True, slots=True)
class ReadTable:
    """A partition as it is read, what may be kept of it, and what was seen of it before and after rows are dropped."""

    table: Table
    narrow: NarrowTable | None
    before: ObservedPartition
    after: ObservedPartition


Coding = Callable[[], list[ReadTable]]
"""Codes the blocks of some partitions; any thread may do so."""


def renumbered(tables: Iterable[ReadTable], rows: Places) -> Iterator[ReadTable]:
    """Yield the partitions under these row numbers, one after the other."""
    start = 0
    for read in tables:
        table = read.table
        yield replace(read, table=Table(table.columns, rows[start : start + len(table)], table.sets))
        start += len(table)
