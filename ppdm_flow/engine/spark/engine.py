"""The engine of a Spark cluster."""

from __future__ import annotations

import pickle
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.digests import identity, sha256
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.errors import DataError, RunError
from ppdm_flow.core.file_sets import data_sha256, file_set, is_file_set, listing_sha256
from ppdm_flow.core.phrases import counted
from ppdm_flow.engine.faults import data_fault, output_fault, run_fault, wrap_plugin_errors
from ppdm_flow.engine.local.engine import LocalEngine
from ppdm_flow.engine.local.partitions import Partitions, order_of
from ppdm_flow.engine.local.pools import Pools
from ppdm_flow.engine.local.spilling import joined
from ppdm_flow.engine.local.writing import batch, opened_sink
from ppdm_flow.engine.opening.opening import takes_numbers
from ppdm_flow.engine.opening.released import released_checks, released_source
from ppdm_flow.engine.seam import ReleaseTarget, Resources, SecondRoute, StepTimer, WrittenRows
from ppdm_flow.engine.spark.farm import Farm
from ppdm_flow.engine.spark.session import check_executors
from ppdm_flow.engine.spark.source import SparkSource
from ppdm_flow.engine.spark.sql import CombinationsOfStreams, SparkSql
from ppdm_flow.engine.spark.stream import ExpansionLayer, Fragment, OrderLayer, Recipe, RowLayer, SparkStream
from ppdm_flow.engine.spark.tallies import SparkPairs
from ppdm_flow.engine.streams.coding import without_unused
from ppdm_flow.engine.streams.multiset import MultisetHash
from ppdm_flow.engine.streams.narrow import NarrowTable
from ppdm_flow.engine.streams.numbering import Numbering
from ppdm_flow.engine.streams.reading import PartitionObserver, ReadOptions
from ppdm_flow.engine.streams.stream import Keys, ReadBack, Stream, StreamPart, check_room, part_keys
from ppdm_flow.engine.written_files import WrittenFiles
from ppdm_flow.plan.cluster.steps import IN_PARTS
from ppdm_flow.plan.definition import ReleaseNode, StepNode
from ppdm_flow.plan.formats import usual_ending
from ppdm_flow.sdk.anonymizer import Generator, OrderTransform, RowTransform, TableTransform
from ppdm_flow.sdk.storage import Source
from ppdm_flow.sdk.view import PairedView
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.numeric.column import NumericColumn
from ppdm_flow.tables.table import Table, concat


class SparkEngine:
    """Fragments on the executors of one session; what needs a whole table is done by the local engine on the driver."""

    name = "spark"

    def __init__(self, farm: Farm) -> None:
        self.farm = farm
        self.local = LocalEngine()
        self._combinations = CombinationsOfStreams()

    def check(self, folder: Path) -> None:
        """Look whether the executors have the same code and see the run's folder. Raises RunError."""
        check_executors(self.farm, folder.absolute())

    def prepare(self) -> None:
        """Import what the driver's part of the second route needs."""
        self.local.prepare()

    def source(
        self, source: Source, attributes: Sequence[AttributeFacts], reading: ReadOptions, resources: Resources
    ) -> SparkSource:
        """Return the rows of a source, to be loaded."""
        farm = self.farm.of_run(resources.stop, resources.listener)
        return SparkSource(farm, source, attributes, reading, resources.budget.limit)

    def digest(self, path: Path) -> str:
        """Return the hash of a file, or of the list of several, which executors read."""
        if not is_file_set(path):
            return data_sha256(path)
        parts = file_set(path).parts
        hashes = self.farm.each(sha256, [part.path.absolute() for part in parts])
        return listing_sha256(zip((part.relative for part in parts), hashes, strict=True))

    def row_step(
        self, source: Stream, node: StepNode, transform: RowTransform, draws: Draws, clock: StepTimer
    ) -> Stream:
        """Carry the transform to the fragments."""
        if isinstance(source, SparkStream):
            same = node.effect.rows in ("same", "reordered")
            return source.then(RowLayer(node, transform, draws), node.attributes, same_rows=same)
        return self.local.row_step(source, node, transform, draws, clock)

    def order_step(
        self, source: Stream, node: StepNode, transform: OrderTransform, draws: Draws, clock: StepTimer
    ) -> Stream:
        """Give the rows their keys where they are."""
        if isinstance(source, SparkStream):
            return source.then(OrderLayer(node, transform, draws), source.attributes, same_rows=True)
        return self.local.order_step(source, node, transform, draws, clock)

    def table_step(
        self,
        source: Stream,
        node: StepNode,
        transform: TableTransform,
        draws: Draws,
        clock: StepTimer,
        resources: Resources,
    ) -> Mapping[str, Stream]:
        """Carry out a step on the whole table on the driver. Raises RunError where the table is too large for it."""
        check_room(source, len(source.attributes), f"step `{node.name}`")
        return self.local.table_step(source, node, transform, draws, clock, resources)

    def generator(
        self, rows: int, node: StepNode, transform: Generator, draws: Draws, clock: StepTimer, resources: Resources
    ) -> Stream:
        """Make rows on the driver."""
        return self.local.generator(rows, node, transform, draws, clock, resources)

    def expanded(self, source: Stream, numbering: Numbering) -> Stream:
        """Write weighted rows out where they are."""
        if isinstance(source, SparkStream):
            kept = tuple(a for a in source.attributes if a.name != numbering.weight)
            return source.then(ExpansionLayer(numbering.weight), kept)
        return self.local.expanded(source, numbering)

    def pairs(
        self, original: Stream, released: Stream, *, aligned: bool, keep: frozenset[str] | None = None
    ) -> PairedView:
        """Match rows where they are, if both sides are made of the same fragments."""
        if isinstance(original, SparkStream) and isinstance(released, SparkStream):
            if original.fragments == released.fragments:
                return SparkPairs(original, released)
            raise run_fault("PPF950", "two streams of one run have other fragments")
        return self.local.pairs(original, released, aligned=aligned, keep=keep)

    def write(self, release: ReleaseNode, stream: Stream, target: ReleaseTarget) -> WrittenRows:
        """Write part files; what the driver holds, records with counts, and formats of one file it writes itself."""
        if isinstance(stream, SparkStream) and release.format in IN_PARTS and not release.collapse:
            everywhere = replace(target, place=target.place.absolute(), scratch=target.scratch.absolute())
            return write_parts(release, stream, everywhere, ordered=is_ordered(stream))
        return self.local.write(release, stream, target)

    def written_files(self, place: Path) -> WrittenFiles:
        """Hash what was written."""
        return written_files(self.farm, place) if place.is_dir() else self.local.written_files(place)

    def read_back(self, release: ReleaseNode, place: Path, resources: Resources, *looks: PartitionObserver) -> ReadBack:
        """Read a written release by the executors."""
        try:
            source, reading = released_source(release, place.absolute(), resources.partition_rows)
            stream = self.source(source, release.attributes, reading, resources)
            stream.load(after=(*released_checks(release), *looks))
        except DataError as error:
            raise RunError(error.diagnostics) from None
        return stream

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
        """Return SQL that Spark groups and the driver's DuckDB finishes."""
        local = self.local.second_route(release, place, original, candidate, siblings, folder, threads)
        return SparkSql(local, self.farm, release, place, original, candidate, siblings, self._combinations)

    def close(self) -> None:
        """Wait for jobs that are being cancelled. The session belongs to its creator and stays open."""
        self.farm.close()


# Releases as part files: written by executors under private names, and moved to their place by the driver alone.
#
# Rows without an order stay in fragments. Rows with keys go, in blocks, to the part that has the first bits of their
# keys: Spark shuffles the blocks, and each part is sorted by (key, row number) where it is written.


PART_ROWS = 1 << 20
"""Rows of a part file."""
_MOST_PARTS = 100_000
_TASKS_A_SLOT = 4
"""Tasks that sort parts, for each place where one can run: Spark gives them other numbers of parts each."""


@dataclass(frozen=True, slots=True)
class RowsSent:
    """The rows that a task handed over for writing: their number, and the hash of their multiset."""

    rows: int
    total: int


def write_parts(release: ReleaseNode, stream: SparkStream, target: ReleaseTarget, *, ordered: bool) -> WrittenRows:
    """Write the rows of ``stream`` into a folder of part files. Raises RunError, DataError."""
    names = tuple(a.name for a in release.attributes)
    partitions = Partitions.of(release, stream) if release.partition_by else None
    writer = PartWriter(release, target.scratch, target.key, partitions, target.types)
    if ordered:
        answers = list(_ordered(stream, names, writer))
    else:
        every = stream.farm.each(_InTurn(stream.recipe, names, writer), list(enumerate(_groups(stream.fragments))))
        answers = [answer for answers in every for answer in answers]
    sent = [answer for answer in answers if isinstance(answer, RowsSent)]
    written = sorted((a for a in answers if isinstance(a, WrittenPart)), key=lambda part: part.number)
    if not written:
        raise data_fault("PPF725", f"release `{release.name}` has no rows: the steps before it dropped them all")
    _publish(writer, written, target)
    rows = sum(each.rows for each in sent)
    return WrittenRows(rows, (rows, sum(each.total for each in sent) % (1 << 64)))


def _publish(writer: PartWriter, written: Sequence[WrittenPart], target: ReleaseTarget) -> None:
    """Give the parts their names in the release; files of other attempts stay in the private folder."""
    try:
        target.place.mkdir(parents=True)
        for number, part in enumerate(written):
            for name, partition in part.files:
                folder = target.place
                if partition is not None and writer.partitions is not None:
                    folder = writer.partitions.path(partition, target.place).parent
                    folder.mkdir(parents=True, exist_ok=True)
                (target.scratch / name).rename(folder / f"part-{number:05d}{ending(writer.release)}")
    except OSError as error:
        raise output_fault(error, f"release `{writer.release.name}`") from None


def _groups(fragments: Sequence[Fragment]) -> list[tuple[Fragment, ...]]:
    """Return runs of fragments that have about as many rows as a part."""
    groups: list[list[Fragment]] = [[]]
    rows = 0
    for fragment in fragments:
        if groups[-1] and rows + fragment.rows > PART_ROWS:
            groups.append([])
            rows = 0
        groups[-1].append(fragment)
        rows += fragment.rows
    return [tuple(group) for group in groups if group]


@dataclass(frozen=True, slots=True)
class _InTurn:
    """Writes a run of fragments as one part."""

    recipe: Recipe
    names: tuple[str, ...]
    writer: PartWriter

    def __call__(self, task: tuple[int, tuple[Fragment, ...]]) -> list[WrittenPart | RowsSent]:
        number, fragments = task
        seen = MultisetHash(self.writer.key)
        part = self.writer.write(number, self._tables(fragments, seen))
        return [RowsSent(*seen.value), *([] if part is None else [part])]

    def _tables(self, fragments: Sequence[Fragment], seen: MultisetHash) -> Iterator[Table]:
        for fragment in fragments:
            for part in self.recipe.of(fragment).parts(self.names):
                seen.look(part.table)
                yield part.table


def _ordered(stream: SparkStream, names: tuple[str, ...], writer: PartWriter) -> Iterator[WrittenPart | RowsSent]:
    """Write the rows in the order of their keys. Raises RunError where not every task says what it sent."""
    rows = sum(fragment.rows for fragment in stream.fragments)
    bits = max(0, (-(-rows // PART_ROWS) - 1).bit_length())
    if 1 << bits > _MOST_PARTS:
        raise run_fault("PPF952", f"release `{writer.release.name}` would be more than {counted(_MOST_PARTS, 'part')}")
    work = _BlocksWork(stream.recipe, names, bits, writer.key)
    finish, sent = _SortWork(names, writer), 0
    tasks = min(1 << bits, _TASKS_A_SLOT * stream.farm.slots)
    for answer in stream.farm.shuffled(work, list(enumerate(stream.fragments)), tasks, finish):
        sent += isinstance(answer, RowsSent)
        yield answer
    if sent != len(stream.fragments):
        raise run_fault("PPF950", f"of {len(stream.fragments)} tasks {sent} said what they sent through the sort")


@dataclass(frozen=True, slots=True)
class _BlocksWork:
    """Cuts a fragment into blocks, one for each part; one more says what all of them hold."""

    recipe: Recipe
    names: tuple[str, ...]
    bits: int
    key: str

    def __call__(self, task: tuple[int, Fragment]) -> Iterator[pa.RecordBatch]:
        place, fragment = task
        seen, parts = MultisetHash(self.key), list(self.recipe.of(fragment).parts())
        if parts:
            table, keys = concat(p.table.select(self.names) for p in parts), np.concatenate([*map(part_keys, parts)])
            seen.look(table)
            for number, block in cut(table, keys, self.bits):
                yield _sent(number, place, block)
        yield _sent(place % (1 << self.bits), place, RowsSent(*seen.value))


def _sent(number: int, place: int, content: RowBlock | RowsSent) -> pa.RecordBatch:
    packed = pickle.dumps(content, protocol=5)
    return pa.RecordBatch.from_arrays(
        [pa.array([number], pa.int32()), pa.array([place], pa.int32()), pa.array([packed], pa.binary())],
        names=["part", "fragment", "block"],
    )


@dataclass(frozen=True, slots=True)
class _SortWork:
    """Sorts the blocks of each part and writes it; blocks come part by part."""

    names: tuple[str, ...]
    writer: PartWriter

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[WrittenPart | RowsSent]:
        current, blocks = -1, list[RowBlock]()
        for each in batches:
            for number, packed in zip(each.column(0).to_pylist(), each.column(2), strict=True):
                if number != current:
                    yield from self._written(current, blocks)
                    current, blocks = number, []
                content = pickle.loads(packed.as_buffer())  # noqa: S301  # own executors
                if isinstance(content, RowsSent):
                    yield content
                else:
                    blocks.append(content)
        yield from self._written(current, blocks)

    def _written(self, number: int, blocks: list[RowBlock]) -> Iterator[WrittenPart]:
        part = self.writer.write(number, in_order(blocks, self.names)) if blocks else None
        if part is not None:
            yield part


def written_files(farm: Farm, place: Path) -> WrittenFiles:
    """Hash the part files of a release, each where there is room."""
    parts = {part.relative: part.path for part in file_set(place).parts}
    hashes = dict(zip(parts, farm.each(sha256, [path.absolute() for path in parts.values()]), strict=True))
    return WrittenFiles(place, {name: identity(path) for name, path in parts.items()}, hashes)


def is_ordered(stream: SparkStream) -> bool:
    """Whether a step of the recipe gave the rows an order."""
    return any(layer.orders for layer in stream.recipe.layers)


# One part of a release, written by an executor.


@dataclass(frozen=True, slots=True)
class WrittenPart:
    """A part as it was written: its number and its files, each with the number of its partition, if it has one."""

    number: int
    files: tuple[tuple[str, int | None], ...]


@dataclass(frozen=True, slots=True)
class PartWriter:
    """Writes a part of a release under private names in ``scratch``, which only the driver makes public."""

    release: ReleaseNode
    scratch: Path
    key: str
    partitions: Partitions | None = None
    types: Mapping[str, pa.DataType] = field(default_factory=dict)

    def write(self, number: int, tables: Iterable[Table]) -> WrittenPart | None:
        """Write one part; None for no rows. Two attempts at one part have other names."""
        if self.partitions is None:
            files = self._files(number, {None: tables}, tuple(a.name for a in self.release.attributes))
        else:
            files = self._files(number, self._by_partition(tables, self.partitions), self._own_names)
        return WrittenPart(number, files) if files else None

    @property
    def _own_names(self) -> tuple[str, ...]:
        """The columns that are in the files, and not in the names of their folders."""
        return tuple(a.name for a in self.release.attributes if a.name not in self.release.partition_by)

    def _by_partition(self, tables: Iterable[Table], partitions: Partitions) -> dict[int | None, list[Table]]:
        by_number: dict[int | None, list[Table]] = {}
        for table in tables:
            numbers = partitions.of_rows(table)
            for number in np.unique(numbers).tolist():
                by_number.setdefault(number, []).append(table.take(numbers == number))
        return by_number

    def _files(
        self, number: int, groups: Mapping[int | None, Iterable[Table]], names: tuple[str, ...]
    ) -> tuple[tuple[str, int | None], ...]:
        typed, files = takes_numbers(self.release), []
        for place, tables in groups.items():
            path = self.scratch / f"{number:06d}-{secrets.token_hex(8)}{ending(self.release)}"
            some = False
            with wrap_plugin_errors(f"release `{self.release.name}`"), opened_sink(self.release, path, names) as sink:
                for table in tables:
                    some = some or len(table) > 0
                    sink.write(batch(table, names, typed=typed, types=self.types))
            if some:
                files.append((path.name, place))
            else:
                path.unlink(missing_ok=True)
        return tuple(files)


def ending(release: ReleaseNode) -> str:
    """Return how the names of part files end."""
    return usual_ending("sinks", release.format, release.path)


# Rows on their way to the parts of a release: cut by the first bits of their keys, and put in order there.


_CELLS_A_CATEGORY = 16
_TOGETHER = 1 << 17


@dataclass(frozen=True, slots=True)
class RowBlock:
    """Rows of one fragment that go to one part, in the order of their numbers, and their keys.

    The numbers themselves stay where they are: rows with equal keys keep their order, and so do fragments.
    """

    table: NarrowTable
    keys: Keys


def cut(table: Table, keys: Keys, bits: int) -> Iterator[tuple[int, RowBlock]]:
    """Yield a block for each of 2^``bits`` parts that gets rows, with the part's number."""
    if not (table.rows[1:] >= table.rows[:-1]).all():
        ascending = np.argsort(table.rows, kind="stable")
        table, keys = table.take(ascending), keys[ascending]
    numbers = _part_of(keys, bits)
    order = np.argsort(numbers, kind="stable")
    by_part, keys = table.take(order), keys[order]  # once: rows of one part lie far from each other
    ends = np.searchsorted(numbers[order], np.arange((1 << bits) + 1))
    for number, (begin, end) in enumerate(zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)):
        if begin < end:
            rows = slice(begin, end)
            columns = {name: _without_many_unused(column.take(rows)) for name, column in by_part.columns.items()}
            sets = {name: column.take(rows).compact() for name, column in by_part.sets.items()}
            yield number, RowBlock(NarrowTable.of(Table(columns, np.arange(end - begin), sets)), keys[rows])


def in_order(blocks: Sequence[RowBlock], names: Sequence[str]) -> Iterator[Table]:
    """Yield the rows of a part's blocks, which come in the order of fragments, by (key, row number).

    Raises RunError for a column that has another form in another block.
    """
    pools, first, pooled = Pools(names), 0, []
    for block in blocks:
        table = block.table.table(block.table.names)
        numbered = Table(table.columns, table.rows + first, table.sets)
        pooled.append(pools.block(StreamPart(numbered, block.keys)))
        first += len(table)
    all_rows = joined(pooled)
    order = order_of(all_rows)
    for begin in range(0, len(order), _TOGETHER):
        yield pools.table(all_rows, order[begin : begin + _TOGETHER])


def _part_of(keys: Keys, bits: int) -> npt.NDArray[np.unsignedinteger]:
    narrow = np.uint8 if bits <= 8 else np.uint32  # a stable sort of bytes is a radix sort
    if bits == 0:
        return np.zeros(len(keys), dtype=narrow)
    return (keys >> np.uint64(64 - bits)).astype(narrow)


def _without_many_unused(column: Column) -> Column:
    """Return the same cells; categories that do not occur are left out where they could outweigh the cells.

    The order leaves out all of them.
    """
    few = isinstance(column, NumericColumn) or _CELLS_A_CATEGORY * len(column.categories) <= len(column)
    return column if few else without_unused(column)
