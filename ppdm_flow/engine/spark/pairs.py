"""Original and released rows side by side, where both are made of one fragment."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import pyarrow as pa

from ppdm_flow.engine.spark.farm import Farm
from ppdm_flow.engine.spark.fragments import Fragment, Recipe, fragment_pairs
from ppdm_flow.engine.spark.stream import PairCountsWork, SparkStream, counted
from ppdm_flow.engine.spark.tallies import ALIKE, TallyWork
from ppdm_flow.engine.streams.narrow import NarrowTable
from ppdm_flow.engine.streams.pairs import StreamPairs
from ppdm_flow.sdk.paired_relation import PairedRelation
from ppdm_flow.tables.counts import Counts
from ppdm_flow.tables.table import Table

_REMEMBERED = 1 << 18
"""Combinations of counts that are kept: several audits ask for the same."""


@dataclass(frozen=True, slots=True)
class FragmentPairs:
    """The pairs of one fragment, by the recipes of both sides."""

    original: Recipe
    released: Recipe

    def of(self, fragment: Fragment) -> StreamPairs:
        """Return them."""
        return fragment_pairs(self.original, self.released, fragment)


@dataclass(frozen=True, slots=True)
class _PairsWork:
    pairs: FragmentPairs
    original: tuple[str, ...]
    released: tuple[str, ...]

    def __call__(self, fragment: Fragment) -> list[tuple[NarrowTable, NarrowTable]]:
        pairs = self.pairs.of(fragment).pairs(self.original, self.released)
        return [(NarrowTable.of(left), NarrowTable.of(right)) for left, right in pairs]


@dataclass(frozen=True, slots=True)
class _RelationWork:
    pairs: FragmentPairs
    relation: PairedRelation

    def __call__(self, fragment: Fragment) -> Iterator[pa.RecordBatch]:
        yield from self.relation.batches_of(self.pairs.of(fragment))


class SparkPairs:
    """A PairedView over two streams of one source."""

    def __init__(self, original: SparkStream, released: SparkStream) -> None:
        self._farm: Farm = original.farm
        self._fragments = original.fragments
        self._pairs = FragmentPairs(original.recipe, released.recipe)
        self._counts: dict[tuple[tuple[str, ...], tuple[str, ...], str | None], Counts] = {}
        self._lock = threading.Lock()

    @property
    def most_rows(self) -> int:
        """How many pairs there are at the most, where no row is written out several times."""
        return sum(fragment.rows for fragment in self._fragments)

    def pairs(self, original: Sequence[str], released: Sequence[str]) -> Iterator[tuple[Table, Table]]:
        """Yield aligned partitions, which come to the driver."""
        work = _PairsWork(self._pairs, tuple(original), tuple(released))
        for left, right in chain.from_iterable(self._farm.waves(work, self._fragments)):
            yield left.table(left.names), right.table(right.names)

    def joint(self, original: str, released: str) -> Counts:
        """Count (original value, released value) over all rows."""
        return self.counts([original], [released], ["original", "released"])

    def counts(
        self, original: Sequence[str], released: Sequence[str], names: Sequence[str], weight: str | None = None
    ) -> Counts:
        """Count the combinations of original values and released cells, under ``names``; ``weight`` is released."""
        columns = (tuple(original), tuple(released))
        key = (*columns, weight)
        with self._lock:
            known = self._counts.get(key)
        if known is not None:
            return replace(known, columns=tuple(names))
        work = PairCountsWork(self._pairs.original, self._pairs.released, columns, tuple(names), weight)
        counts = counted(self._farm, work, self._fragments, tuple(names))
        with self._lock:
            if len(counts) <= _REMEMBERED:
                self._counts[key] = counts
        return counts

    def frame(self, relation: PairedRelation) -> object:
        """Return the rows of a relation of these pairs as a DataFrame."""
        return self._farm.frame(self._rows(relation), self._fragments, ", ".join(_kinds(relation)))

    def tallied(self, relation: PairedRelation, columns: frozenset[str]) -> object:
        """Return the combinations of these columns of a relation as a DataFrame, counted by fragment."""
        names = tuple(field.name for field in relation.schema if field.name in columns) or (relation.schema.names[0],)
        schema = [kind for name, kind in zip(relation.schema.names, _kinds(relation), strict=True) if name in names]
        work = TallyWork(self._rows(relation), names)
        return self._farm.frame(work, self._fragments, ", ".join([*schema, f"{ALIKE} long"]))

    def _rows(self, relation: PairedRelation) -> _RelationWork:
        unpaired = PairedRelation(NOTHING, relation.released, relation.original, relation.weight)
        return _RelationWork(self._pairs, unpaired)


def _kinds(relation: PairedRelation) -> list[str]:
    kinds = {pa.string(): "string", pa.int64(): "long"}
    return [f"{field.name} {kinds[field.type]}" for field in relation.schema]


class _Nothing:
    """No pairs: in the place of those that stay with the driver."""

    def pairs(self, original: Sequence[str], released: Sequence[str]) -> Iterator[tuple[Table, Table]]:
        raise NotImplementedError

    def joint(self, original: str, released: str) -> Counts:
        raise NotImplementedError


NOTHING = _Nothing()
