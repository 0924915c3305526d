"""The interface of an engine: where rows are, and what works on them. All code above it serves every engine.

An engine reads a source as fragments whose rows have the source's row numbers, carries fitted transforms to them,
answers questions about them (counts, domains, samples), puts them into the order that a step asked for, writes them and
reads them back, and asks SQL about what it wrote. Fitting, judging, the ledger, documents and publishing know none of
this.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.draws import Draws
from ppdm_flow.engine.events import Listener, ignore_events
from ppdm_flow.engine.streams.numbering import Numbering
from ppdm_flow.engine.streams.reading import Budget, PartitionObserver, ReadOptions
from ppdm_flow.engine.streams.stream import LoadedStream, ReadBack, Stop, Stream
from ppdm_flow.engine.streams.workers import ALONE, Workers
from ppdm_flow.engine.written_files import WrittenFiles
from ppdm_flow.plan.definition import ReleaseNode, StepNode
from ppdm_flow.sdk.anonymizer import Generator, OrderTransform, RowTransform, TableTransform
from ppdm_flow.sdk.audit import Sql
from ppdm_flow.sdk.storage import Source
from ppdm_flow.sdk.view import PairedView


@dataclass(frozen=True, slots=True)
class Resources:
    """Run limits and callbacks: rows a partition, bytes of coded data, stop flag, progress listener, threads."""

    partition_rows: int
    budget: Budget
    stop: Stop
    listener: Listener = ignore_events
    workers: Workers = ALONE


@dataclass(frozen=True, slots=True)
class WrittenRows:
    """The rows of a release: their number, and the hash of their multiset."""

    rows: int
    multiset: tuple[int, int]


@dataclass(frozen=True, slots=True)
class ReleaseTarget:
    """The target of a release: its place, an existing empty private folder, and bytes to sort in.

    ``key`` is that of the hash of the rows' multiset. ``types`` are those that released columns have kept.
    """

    place: Path
    scratch: Path
    key: str
    limit: int
    types: Mapping[str, pa.DataType] = field(default_factory=dict)


class SecondRoute(Sql, Protocol):
    """The second route of one audit, to be closed."""

    def close(self) -> None:
        """Give everything back."""
        ...


class Engine(Protocol):
    """An engine. What it holds between calls belongs to no run; it may be asked from several threads."""

    name: str

    def check(self, folder: Path) -> None:
        """Look whether what works on the rows is fit to, and sees a run's private folder. Raises RunError."""
        ...

    def prepare(self) -> None:
        """Import what is slow to import, while the source is read."""
        ...

    def source(
        self, source: Source, attributes: Sequence[AttributeFacts], reading: ReadOptions, resources: Resources
    ) -> LoadedStream:
        """Return the rows of a source, to be loaded before anything is asked of them."""
        ...

    def digest(self, path: Path) -> str:
        """Return the hash of the bytes of a file, or of the list of files of a folder or a glob."""
        ...

    def row_step(
        self, source: Stream, node: StepNode, transform: RowTransform, draws: Draws, clock: StepTimer
    ) -> Stream:
        """Carry a row-wise transform to the rows."""
        ...

    def order_step(
        self, source: Stream, node: StepNode, transform: OrderTransform, draws: Draws, clock: StepTimer
    ) -> Stream:
        """Let the rows carry the keys of an order."""
        ...

    def table_step(
        self,
        source: Stream,
        node: StepNode,
        transform: TableTransform,
        draws: Draws,
        clock: StepTimer,
        resources: Resources,
    ) -> Mapping[str, Stream]:
        """Carry out a step on the whole table, and return its outputs. Raises RunError where that is too large."""
        ...

    def generator(
        self, rows: int, node: StepNode, transform: Generator, draws: Draws, clock: StepTimer, resources: Resources
    ) -> Stream:
        """Make rows."""
        ...

    def expanded(self, source: Stream, numbering: Numbering) -> Stream:
        """Write weighted rows out as single rows."""
        ...

    def pairs(
        self, original: Stream, released: Stream, *, aligned: bool, keep: frozenset[str] | None = None
    ) -> PairedView:
        """Match rows by their numbers; ``aligned`` says that both come in ascending order.

        ``keep``: several audits will ask, so what fits into memory may be kept, but for these columns.
        """
        ...

    def write(self, release: ReleaseNode, stream: Stream, target: ReleaseTarget) -> WrittenRows:
        """Write the rows in the order that steps asked for. Raises RunError, DataError."""
        ...

    def written_files(self, place: Path) -> WrittenFiles:
        """Hash the bytes of a release that was written."""
        ...

    def read_back(self, release: ReleaseNode, place: Path, resources: Resources, *looks: PartitionObserver) -> ReadBack:
        """Return a written release as a stream that was loaded. Raises RunError where it is not what the plan has."""
        ...

    def second_route(
        self,
        release: ReleaseNode,
        place: Path | None,
        original: Stream,
        candidate: ReadBack,
        siblings: Mapping[str, Stream],
        folder: Path,
        threads: int,
    ) -> SecondRoute:
        """Return SQL over a written release, or over a table that is in no file. ``folder`` is private."""
        ...

    def close(self) -> None:
        """Give everything back."""
        ...


class StepTimer:
    """Seconds that a step spends in its own work, over all threads."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._lock = threading.Lock()

    def add(self, since: float) -> None:
        """Add the time since ``since``."""
        with self._lock:
            self.seconds += time.perf_counter() - since
