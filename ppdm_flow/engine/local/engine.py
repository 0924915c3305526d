"""The engine of one machine."""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.file_sets import data_sha256
from ppdm_flow.engine.local.expansion import ExpandedStream
from ppdm_flow.engine.local.source import SourceStream
from ppdm_flow.engine.local.transforms import GeneratedStream, MemoryStream, OrderedStream, RowStream, run_table_step
from ppdm_flow.engine.local.writing import read_back, write
from ppdm_flow.engine.seam import ReleaseTarget, Resources, StepTimer, WrittenRows
from ppdm_flow.engine.streams.numbering import Numbering
from ppdm_flow.engine.streams.reading import PartitionObserver, ReadOptions
from ppdm_flow.engine.streams.remembered import RememberedPairs
from ppdm_flow.engine.streams.stream import ReadBack, Stream, StreamPairs
from ppdm_flow.engine.written_files import WrittenFiles
from ppdm_flow.plan.definition import ReleaseNode, StepNode
from ppdm_flow.sdk.anonymizer import Generator, OrderTransform, RowTransform, TableTransform
from ppdm_flow.sdk.storage import Source
from ppdm_flow.sdk.view import PairedView

if TYPE_CHECKING:  # DuckDB is imported while the source is read
    from ppdm_flow.engine.local.sql import DuckSql, SharedGroups

_MOST_DATABASES = 8
"""Releases whose databases stay open for their next audit; each takes some megabytes."""


class LocalEngine:
    """Rows in partitions, in memory where they fit; sorted out of core; DuckDB for the second route."""

    name = "local"

    def __init__(self) -> None:
        self._groups: WeakKeyDictionary[ReadBack, SharedGroups] = WeakKeyDictionary()
        self._recent: deque[SharedGroups] = deque()
        self._lock = threading.Lock()

    def check(self, folder: Path) -> None:
        """Do nothing: this process is what works on the rows."""

    def prepare(self) -> None:
        """Import DuckDB."""
        with contextlib.suppress(Exception):
            from ppdm_flow.engine.local import sql  # noqa: F401, PLC0415  # slow, and not needed before the audits

    def source(
        self, source: Source, attributes: Sequence[AttributeFacts], reading: ReadOptions, resources: Resources
    ) -> SourceStream:
        """Return the rows of a source, to be loaded."""
        return SourceStream(source, attributes, reading, resources.budget, resources.stop, workers=resources.workers)

    def digest(self, path: Path) -> str:
        """Return the hash of a file, or of the list of several."""
        return data_sha256(path)

    def row_step(
        self, source: Stream, node: StepNode, transform: RowTransform, draws: Draws, clock: StepTimer
    ) -> Stream:
        """Transform each partition when it is asked for."""
        return RowStream(source, node, transform, draws, clock)

    def order_step(
        self, source: Stream, node: StepNode, transform: OrderTransform, draws: Draws, clock: StepTimer
    ) -> Stream:
        """Give each partition its keys when it is asked for."""
        return OrderedStream(source, node, transform, draws, clock)

    def table_step(
        self,
        source: Stream,
        node: StepNode,
        transform: TableTransform,
        draws: Draws,
        clock: StepTimer,
        resources: Resources,
    ) -> Mapping[str, MemoryStream]:
        """Carry out a step on the whole table, in memory."""
        return run_table_step(source, node, transform, draws, clock, resources)

    def generator(
        self, rows: int, node: StepNode, transform: Generator, draws: Draws, clock: StepTimer, resources: Resources
    ) -> Stream:
        """Make each partition when it is asked for."""
        return GeneratedStream(rows, node, transform, draws, clock, resources)

    def expanded(self, source: Stream, numbering: Numbering) -> Stream:
        """Write weighted rows out, a partition at a time."""
        return ExpandedStream(source, numbering)

    def pairs(
        self, original: Stream, released: Stream, *, aligned: bool, keep: frozenset[str] | None = None
    ) -> PairedView:
        """Match rows by their numbers, a partition at a time where both are aligned."""
        pairs = StreamPairs(original, released, aligned=aligned)
        if keep is None:
            return pairs
        names = [[a.name for a in stream.attributes if a.name not in keep] for stream in (original, released)]
        return RememberedPairs(pairs, keep, *names)

    def write(self, release: ReleaseNode, stream: Stream, target: ReleaseTarget) -> WrittenRows:
        """Write one file, or one for each partition of the release."""
        return write(release, stream, target)

    def written_files(self, place: Path) -> WrittenFiles:
        """Hash what was written."""
        return WrittenFiles.of(place)

    def read_back(
        self, release: ReleaseNode, place: Path, resources: Resources, *looks: PartitionObserver
    ) -> SourceStream:
        """Read a written release once."""
        return read_back(release, place, resources, *looks)

    def second_route(
        self,
        release: ReleaseNode,
        place: Path | None,
        original: Stream,
        candidate: ReadBack,
        siblings: Mapping[str, Stream],
        folder: Path,
        threads: int,
    ) -> DuckSql:
        """Return DuckDB over the released file itself."""
        from ppdm_flow.engine.local.sql import DuckSql, SharedGroups  # noqa: PLC0415  # imported while the source is read

        with self._lock:
            groups = self._groups.setdefault(candidate, SharedGroups())
            if groups in self._recent:
                self._recent.remove(groups)
            self._recent.append(groups)
            idle = self._recent.popleft() if len(self._recent) > _MOST_DATABASES else None
        if idle is not None:
            idle.shut_if_idle()
        return DuckSql(release, place, original, candidate, folder, threads, siblings, groups)

    def close(self) -> None:
        """Do nothing: nothing is held between calls."""
