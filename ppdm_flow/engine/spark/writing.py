"""Releases as part files: written by executors under private names, and moved to their place by the driver alone.

Rows without an order stay in fragments. Rows with keys go, in blocks, to the part that has the first bits of their
keys: Spark shuffles the blocks, and each part is sorted by (key, row number) where it is written.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from ppdm_flow.core.digests import identity, sha256
from ppdm_flow.core.file_sets import file_set
from ppdm_flow.core.phrases import counted
from ppdm_flow.engine.faults import data_fault, output_fault, run_fault
from ppdm_flow.engine.local.partitions import Partitions
from ppdm_flow.engine.seam import ReleaseTarget, WrittenRows
from ppdm_flow.engine.spark.blocks import RowBlock, cut, in_order
from ppdm_flow.engine.spark.farm import Farm
from ppdm_flow.engine.spark.fragments import Fragment, Recipe
from ppdm_flow.engine.spark.parts import PartWriter, WrittenPart, ending
from ppdm_flow.engine.spark.stream import SparkStream
from ppdm_flow.engine.streams.multiset import MultisetHash
from ppdm_flow.engine.streams.stream import part_keys
from ppdm_flow.engine.written_files import WrittenFiles
from ppdm_flow.plan.definition import ReleaseNode
from ppdm_flow.tables.table import Table, concat

PART_ROWS = 1 << 20
"""Rows of a part file."""
_MOST_PARTS = 100_000
_TASKS_A_SLOT = 4
"""Tasks that sort parts, for each place where one can run: Spark gives them other numbers of parts each."""


@dataclass(frozen=True, slots=True)
class RowsSent:
    """How many rows a task handed over to be written, and the hash of their multiset."""

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
    """Give the parts their names in the release: whatever other attempts left stays in the private folder."""
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
    finish, told = _SortWork(names, writer), 0
    tasks = min(1 << bits, _TASKS_A_SLOT * stream.farm.slots)
    for answer in stream.farm.shuffled(work, list(enumerate(stream.fragments)), tasks, finish):
        told += isinstance(answer, RowsSent)
        yield answer
    if told != len(stream.fragments):
        raise run_fault("PPF950", f"of {len(stream.fragments)} tasks {told} said what they sent through the sort")


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
