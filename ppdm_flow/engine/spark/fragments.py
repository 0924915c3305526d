"""Fragments: pieces of a source with the numbers of their rows, which are worked on where they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Generic, Protocol, TypeVar

import numpy as np

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.roles import Role
from ppdm_flow.engine.local.expansion import ExpandedStream
from ppdm_flow.engine.local.source import SourceStream
from ppdm_flow.engine.local.transforms import OrderedStream, RowStream
from ppdm_flow.engine.step_timer import StepTimer
from ppdm_flow.engine.streams.numbering import Numbering
from ppdm_flow.engine.streams.pairs import StreamPairs
from ppdm_flow.engine.streams.reading import Budget, ReadOptions
from ppdm_flow.engine.streams.stream import Places, Stop, Stream, StreamPart
from ppdm_flow.plan.definition import StepNode
from ppdm_flow.sdk.anonymizer import OrderTransform, RowTransform
from ppdm_flow.sdk.storage import Source
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.table import RowNumbers, Table

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Fragment:
    """``first`` is the number of its first row in the source; ``copies`` that of its first single row, if weighted."""

    source: Source
    first: int
    rows: int
    copies: int = 0

    def weighed(self, numbering: Numbering) -> Fragment:
        """Return the fragment with the number of its first single row."""
        return replace(self, copies=int(numbering.first(np.array([self.first]))[0]))


class FragmentStream:
    """The rows of one fragment, read anew whenever they are asked for."""

    def __init__(self, fragment: Fragment, attributes: Sequence[AttributeFacts], reading: ReadOptions) -> None:
        self.attributes = tuple(attributes)
        self.fragment = fragment
        self._reading = reading

    def parts(self, columns: Sequence[str] | None = None) -> Iterator[StreamPart]:
        """Yield the partitions."""
        return self.opened().read_once(columns)

    def read_at(self, places: Places, columns: Sequence[str]) -> Iterator[Table]:
        """Yield the rows at some places of a fragment of which none is dropped, ascending, with these columns."""
        return self.opened().read_at(places, columns)

    def opened(self) -> SourceStream:
        """Return the fragment as a source of the local engine that remembers nothing."""
        fragment = self.fragment
        return SourceStream(fragment.source, self.attributes, self._reading, Budget(0), Stop(), fragment.first)


class FragmentLayer(Protocol):
    """A step on the way from a source to a stream, which can be pickled."""

    @property
    def orders(self) -> bool:
        """Whether the rows have keys of an order after it."""
        ...

    def over(self, source: Stream, fragment: Fragment) -> Stream:
        """Return the step's rows of one fragment."""
        ...


@dataclass(frozen=True, slots=True)
class RowLayer:
    """A row-wise step."""

    node: StepNode
    transform: RowTransform
    draws: Draws
    orders: ClassVar[bool] = False

    def over(self, source: Stream, fragment: Fragment) -> Stream:  # noqa: ARG002  # rows have their numbers
        """Return the step's rows of one fragment."""
        return RowStream(source, self.node, self.transform, self.draws, StepTimer(), sparing=True)


@dataclass(frozen=True, slots=True)
class OrderLayer:
    """A step that gives keys of an order."""

    node: StepNode
    transform: OrderTransform
    draws: Draws
    orders: ClassVar[bool] = True

    def over(self, source: Stream, fragment: Fragment) -> Stream:  # noqa: ARG002  # the same
        """Return the rows of one fragment with their keys."""
        return OrderedStream(source, self.node, self.transform, self.draws, StepTimer())


@dataclass(frozen=True, slots=True)
class ExpansionLayer:
    """Weighted rows written out; a fragment knows the number of its first copy."""

    weight: str
    orders: ClassVar[bool] = False

    def over(self, source: Stream, fragment: Fragment) -> Stream:
        """Return the single rows of one fragment."""
        numbering = Numbering(self.weight, fragment.copies)
        for part in source.parts([self.weight]):
            numbering.look(part.table)
        return ExpandedStream(source, numbering)


@dataclass(frozen=True, slots=True)
class Recipe:
    """How the rows of a stream are made of a fragment's: read, then one layer after the other."""

    attributes: tuple[AttributeFacts, ...]
    reading: ReadOptions
    layers: tuple[FragmentLayer, ...] = ()

    def then(self, layer: FragmentLayer) -> Recipe:
        """Return the recipe with one more layer."""
        return replace(self, layers=(*self.layers, layer))

    def source(self, fragment: Fragment) -> FragmentStream:
        """Return the rows of one fragment before all layers."""
        return FragmentStream(fragment, self.attributes, self.reading)

    def of(self, fragment: Fragment) -> Stream:
        """Return the stream of one fragment."""
        return self.over(self.source(fragment), fragment)

    def over(self, source: Stream, fragment: Fragment) -> Stream:
        """Return the stream of one fragment, whose rows before all layers are at hand."""
        stream = source
        for layer in self.layers:
            stream = layer.over(stream, fragment)
        return stream


class KeptColumns:
    """The rows of one fragment before all layers; a column that was read once is kept for whoever asks for it again."""

    def __init__(self, source: FragmentStream) -> None:
        self.attributes = source.attributes
        self._source = source
        self._rows: list[RowNumbers] | None = None
        self._columns: dict[str, list[Column]] = {}

    def parts(self, columns: Sequence[str] | None = None) -> Iterator[StreamPart]:
        """Yield the partitions."""
        names = tuple(a.name for a in self.attributes) if columns is None else tuple(columns)
        self._read([name for name in names if name not in self._columns])
        for place, rows in enumerate(self._rows or []):
            yield StreamPart(Table({name: self._columns[name][place] for name in names}, rows))

    def _read(self, names: Sequence[str]) -> None:
        if self._rows is not None and not names:
            return
        tables = [part.table for part in self._source.parts(names)]
        self._rows = [table.rows for table in tables]
        self._columns |= {name: [table[name] for table in tables] for name in names}


def fragment_pairs(original: Recipe, released: Recipe, fragment: Fragment) -> StreamPairs:
    """Return the rows of two recipes of one fragment side by side; what both read is read once, but for sets."""
    same = original.attributes == released.attributes and original.reading == released.reading
    if same and all(facts.role is not Role.ITEMS for facts in original.attributes):
        kept = KeptColumns(original.source(fragment))
        return StreamPairs(original.over(kept, fragment), released.over(kept, fragment), aligned=True)
    return StreamPairs(original.of(fragment), released.of(fragment), aligned=True)


@dataclass(frozen=True, slots=True)
class PartsWork(Generic[Result]):
    """What is done with each partition of a fragment."""

    recipe: Recipe
    work: Callable[[StreamPart], Result]
    columns: tuple[str, ...] | None

    def __call__(self, fragment: Fragment) -> list[Result]:
        """Return the results of the fragment's partitions."""
        return [self.work(part) for part in self.recipe.of(fragment).parts(self.columns)]
