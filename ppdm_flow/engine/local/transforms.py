"""Steps as streams: each makes its partitions from those of the step before it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.draws import Draws
from ppdm_flow.engine.calls.lending import Loan, detached_table, guard_plugin_call, is_foreign, lent_rows, turns
from ppdm_flow.engine.calls.promises import broken_promise, check_generated, check_partition, check_table, conformed
from ppdm_flow.engine.faults import data_fault
from ppdm_flow.engine.seam import Resources, StepTimer
from ppdm_flow.engine.streams.stream import PartJob, Stop, Stream, StreamPart, jobs_of, parts_of, workers_of
from ppdm_flow.engine.streams.workers import ALONE, Workers
from ppdm_flow.plan.definition import StepNode
from ppdm_flow.sdk.anonymizer import Generator, OrderTransform, RowTransform, TableTransform
from ppdm_flow.tables.table import Table, concat

_REMEMBERED = 200_000
"""Cells of a step's output that are kept for the next pass: some megabytes."""


class RowStream:
    """A row-wise step.

    ``sparing``: the step is given only the columns that its effect says it needs, and those that are asked for; where
    every pass reads a file, that is most of what it costs. Else it gets all columns, as a plugin of another
    distribution always does.

    Partitions are remembered up to `_REMEMBERED` cells: each step of a chain is fitted on the rows of the one before,
    which else would be made again from the source, by all steps, for each.
    """

    def __init__(
        self,
        source: Stream,
        node: StepNode,
        transform: RowTransform,
        draws: Draws,
        clock: StepTimer,
        *,
        sparing: bool = False,
    ) -> None:
        self.attributes = node.attributes
        self.workers = workers_of(source)
        self._source = source
        self._node = node
        self._transform = transform
        self._draws = draws
        self._clock = clock
        self._turns = turns(node.bound)
        effect = node.effect
        added = {a.name for a in effect.adds}
        self._made = {*effect.changes, *added, *effect.renames, *effect.renames.values()}
        self._sparing = sparing and not is_foreign(node.bound)
        self.has_keys: bool = isinstance(source, OrderedStream) or (isinstance(source, RowStream) and source.has_keys)
        self._parts: dict[tuple[int, tuple[str, ...]], StreamPart | None] = {}
        self._cells = 0

    def parts(self, columns: Sequence[str] | None = None) -> Iterator[StreamPart]:
        """Yield the transformed partitions; columns that the step leaves alone come straight from its input."""
        return parts_of(self, columns)

    def jobs(self, columns: Sequence[str] | None = None) -> Iterator[PartJob]:
        """Yield what makes the same partitions."""
        names = [a.name for a in self.attributes] if columns is None else list(columns)
        named = columns is not None or (self._sparing and not self.has_keys)  # keys come where no column is named
        if named and self._node.effect.rows == "same" and self._made.isdisjoint(names):
            return jobs_of(self._source, names)
        given = self._given(names) if named and self._sparing else None
        facts = self.attributes
        if given is not None:
            facts = tuple(a for a in facts if a.name in self._made or a.name in given)
        jobs = enumerate(jobs_of(self._source, given))
        return (partial(self._remembered, number, job, facts, tuple(names)) for number, job in jobs)

    def _remembered(
        self, number: int, job: PartJob, facts: Sequence[AttributeFacts], names: tuple[str, ...]
    ) -> StreamPart | None:
        if (number, names) in self._parts:
            return self._parts[number, names]
        part = self._transformed(job, facts, names)
        cells = 0 if part is None else len(part.table) * max(1, len(names))
        if self._cells + cells <= _REMEMBERED:
            self._cells += cells
            self._parts[number, names] = part
        return part

    def _transformed(self, job: PartJob, facts: Sequence[AttributeFacts], names: Sequence[str]) -> StreamPart | None:
        part = job()
        out = None if part is None else self._apply(part.table, facts)
        return part.kept(out.select(names)) if part is not None and out is not None and len(out) else None

    def _given(self, names: Sequence[str]) -> list[str]:
        """Return the columns of the input that the step needs to make ``names``, in their order."""
        wanted = self._node.effect.needed | (set(names) - self._made)
        return [a.name for a in self._source.attributes if a.name in wanted]

    def _apply(self, table: Table, facts: Sequence[AttributeFacts]) -> Table:
        started = time.perf_counter()
        loan = Loan.of(self._node, table)
        with self._turns, guard_plugin_call(self._node, self._source.attributes):
            out = loan.back(self._transform.apply(loan.theirs, self._draws))
        self._clock.add(started)
        check_partition(self._node, table, out, facts)
        return conformed(self._node, out, facts)


class OrderedStream:
    """A step that asks for an order: the rows stay where they are and carry their keys."""

    def __init__(
        self, source: Stream, node: StepNode, transform: OrderTransform, draws: Draws, clock: StepTimer
    ) -> None:
        self.attributes = source.attributes
        self.workers = workers_of(source)
        self._source = source
        self._node = node
        self._transform = transform
        self._draws = draws
        self._clock = clock
        self._turns = turns(node.bound)

    def parts(self, columns: Sequence[str] | None = None) -> Iterator[StreamPart]:
        """Yield the partitions; keys only where the whole row is asked for."""
        return parts_of(self, columns)

    def jobs(self, columns: Sequence[str] | None = None) -> Iterator[PartJob]:
        """Yield what makes the same partitions."""
        if columns is not None:
            return jobs_of(self._source, columns)
        return (partial(self._keyed, job) for job in jobs_of(self._source))

    def _keyed(self, job: PartJob) -> StreamPart | None:
        part = job()
        if part is None:
            return None
        started = time.perf_counter()
        with self._turns, guard_plugin_call(self._node, self._source.attributes):
            keys = np.array(self._transform.keys(Loan.of(self._node, part.table).theirs, self._draws))
        self._clock.add(started)
        if keys.shape != (len(part.table),) or keys.dtype != np.uint64:
            raise broken_promise(self._node, "returned keys of another shape or type than one uint64 a row")
        return StreamPart(part.table, keys)


class MemoryStream:
    """Rows held in memory, as a step that needs the whole table leaves them."""

    def __init__(
        self,
        table: Table,
        attributes: tuple[AttributeFacts, ...],
        partition_rows: int,
        stop: Stop,
        workers: Workers = ALONE,
    ) -> None:
        self.attributes = attributes
        self.workers = workers
        self._table = table
        self._size = partition_rows
        self._stop = stop

    def parts(self, columns: Sequence[str] | None = None) -> Iterator[StreamPart]:
        """Yield slices of the table."""
        return parts_of(self, columns)

    def jobs(self, columns: Sequence[str] | None = None) -> Iterator[PartJob]:
        """Yield what makes the slices."""
        table = self._table if columns is None else self._table.select(columns)
        for start in range(0, len(table), self._size):
            yield partial(self._slice, table, start)

    def _slice(self, table: Table, start: int) -> StreamPart:
        self._stop.check()
        rows = slice(start, start + self._size)
        return StreamPart(table.take(rows))  # type: ignore[arg-type]  # a slice is a view


class GeneratedStream:
    """Rows that a generator makes."""

    def __init__(
        self,
        rows: int,
        node: StepNode,
        transform: Generator,
        draws: Draws,
        clock: StepTimer,
        resources: Resources,
    ) -> None:
        self.attributes = node.attributes
        self.workers = resources.workers
        self._rows = rows
        self._node = node
        self._transform = transform
        self._draws = draws
        self._clock = clock
        self._turns = turns(node.bound)
        self._size = resources.partition_rows
        self._stop = resources.stop

    def parts(self, columns: Sequence[str] | None = None) -> Iterator[StreamPart]:
        """Yield generated partitions."""
        return parts_of(self, columns)

    def jobs(self, columns: Sequence[str] | None = None) -> Iterator[PartJob]:
        """Yield what makes the same partitions."""
        names = [a.name for a in self.attributes] if columns is None else list(columns)
        return (partial(self._generated, start, names) for start in range(0, self._rows, self._size))

    def _generated(self, start: int, names: Sequence[str]) -> StreamPart:
        self._stop.check()
        rows = np.arange(start, min(self._rows, start + self._size), dtype=np.int64)
        started = time.perf_counter()
        with self._turns, guard_plugin_call(self._node, self.attributes):
            out = detached_table(self._node, self._transform.generate(lent_rows(self._node, rows), self._draws))
        self._clock.add(started)
        check_generated(self._node, rows, out, self.attributes)
        return StreamPart(conformed(self._node, out, self.attributes).select(names))


def run_table_step(
    source: Stream,
    node: StepNode,
    transform: TableTransform,
    draws: Draws,
    clock: StepTimer,
    resources: Resources,
) -> Mapping[str, MemoryStream]:
    """Carry out a step that needs the whole table, in the order that earlier steps asked for."""
    table = in_order(list(source.parts()))
    started = time.perf_counter()
    loan = Loan.of(node, table)
    with guard_plugin_call(node, source.attributes):
        tables = {name: loan.back(out) for name, out in transform.apply_table(loan.theirs, draws).items()}
    clock.add(started)
    streams = {}
    for name, out in tables.items():
        wanted = node.effect.outputs.get(name)
        facts = tuple(a for a in node.attributes if wanted is None or a.name in wanted)
        check_table(node, table, out, facts)
        streams[name] = MemoryStream(
            conformed(node, out, facts).select([a.name for a in facts]),
            facts,
            resources.partition_rows,
            resources.stop,
            resources.workers,
        )
    return streams


def in_order(parts: list[StreamPart]) -> Table:
    """Return the whole table, sorted by (key, row number) where there are keys. Raises DataError for no rows."""
    if not parts:
        raise data_fault("PPF725", "no row is left for a step that needs the whole table")
    table = concat(p.table for p in parts)
    keys = [p.keys for p in parts if p.keys is not None]
    if not keys:
        return table
    return table.take(np.lexsort((table.rows, np.concatenate(keys))))
