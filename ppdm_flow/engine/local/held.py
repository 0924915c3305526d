"""The rows of a source that are held in memory, in few bytes, and what is counted of them as they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from ppdm_flow.engine.streams.dense_tally import DenseTally
from ppdm_flow.engine.streams.narrow import NarrowTable
from ppdm_flow.engine.streams.stream import PartJob, Stop, StreamPart
from ppdm_flow.engine.streams.workers import Workers
from ppdm_flow.tables.counts import Counts


@dataclass(slots=True)
class HeldRows:
    """``tables`` are the partitions, of ``size`` bytes together."""

    stop: Stop
    tables: list[NarrowTable] = field(default_factory=list)
    size: int = 0

    def jobs(self, names: tuple[str, ...]) -> Iterator[PartJob]:
        """Yield what makes the partitions with these columns."""
        return (partial(self._widened, narrow, names) for narrow in self.tables)

    def tallies(self, names: tuple[str, ...], weight: str | None, workers: Workers) -> Iterator[Counts]:
        """Yield the counts of the combinations of these columns in each partition."""
        return workers.each(partial(self._tallied, narrow, names, weight) for narrow in self.tables)

    def tallies_each(self, names: Sequence[str], workers: Workers) -> Iterator[dict[str, Counts]]:
        """Yield the counts of each column by itself, of those that have few values in all partitions.

        One job a partition: a column of it takes so little time that threads would mostly wait for each other.
        Partitions with the same categories are added up before anything is made of their numbers.
        """
        few = tuple(n for n in names if all(table.has_few_values(n) for table in self.tables))
        sums: dict[str, DenseTally] = {}
        for tallied in workers.each(partial(self._tallied_each, narrow, few) for narrow in self.tables if few):
            for name, tally in tallied.items():
                together = sums[name].with_later(tally) if name in sums else tally
                if together is None:
                    yield {name: sums[name].counts(name)}
                sums[name] = together or tally
        if sums:
            yield {name: tally.counts(name) for name, tally in sums.items()}

    def _widened(self, narrow: NarrowTable, names: tuple[str, ...]) -> StreamPart:
        self.stop.check()
        return StreamPart(narrow.table(names))

    def _tallied(self, narrow: NarrowTable, names: tuple[str, ...], weight: str | None) -> Counts:
        self.stop.check()
        return narrow.counts(names, weight)

    def _tallied_each(self, narrow: NarrowTable, names: tuple[str, ...]) -> dict[str, DenseTally]:
        self.stop.check()
        tallies = ((name, narrow.tally(name)) for name in names)
        return {name: tally for name, tally in tallies if tally is not None}
