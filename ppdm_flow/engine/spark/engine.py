"""The engine of a Spark cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.digests import sha256
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.errors import DataError, RunError
from ppdm_flow.core.file_sets import data_sha256, file_set, is_file_set, listing_sha256
from ppdm_flow.engine.faults import run_fault
from ppdm_flow.engine.local.engine import LocalEngine
from ppdm_flow.engine.opening.released import released_checks, released_source
from ppdm_flow.engine.seam import ReleaseTarget, Resources, SecondRoute, WrittenRows
from ppdm_flow.engine.spark.combinations import CombinationsOfStreams
from ppdm_flow.engine.spark.farm import Farm
from ppdm_flow.engine.spark.fragments import ExpansionLayer, OrderLayer, RowLayer
from ppdm_flow.engine.spark.pairs import SparkPairs
from ppdm_flow.engine.spark.session import check_executors
from ppdm_flow.engine.spark.source import SparkSource
from ppdm_flow.engine.spark.sql import SparkSql
from ppdm_flow.engine.spark.stream import SparkStream
from ppdm_flow.engine.spark.writing import is_ordered, write_parts, written_files
from ppdm_flow.engine.step_timer import StepTimer
from ppdm_flow.engine.streams.numbering import Numbering
from ppdm_flow.engine.streams.reading import PartitionObserver, ReadOptions
from ppdm_flow.engine.streams.stream import ReadBack, Stream, check_room
from ppdm_flow.engine.written_files import WrittenFiles
from ppdm_flow.plan.cluster.steps import IN_PARTS
from ppdm_flow.plan.definition import ReleaseNode, StepNode
from ppdm_flow.sdk.anonymizer import Generator, OrderTransform, RowTransform, TableTransform
from ppdm_flow.sdk.storage import Source
from ppdm_flow.sdk.view import PairedView


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
        """Wait for jobs that are being cancelled, and leave the session to whoever made it."""
        self.farm.close()
