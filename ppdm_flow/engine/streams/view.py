"""The view of a stream: the questions that algorithms may ask."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.errors import DataError
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.core.suggest import did_you_mean
from ppdm_flow.engine.faults import data_fault
from ppdm_flow.engine.streams.stream import (
    CountedStream,
    DistributedStream,
    EachTalliedStream,
    PickedStream,
    Stream,
    StreamPart,
    check_room,
    results,
    schema_of,
    tallies,
)
from ppdm_flow.tables.column import Column, union
from ppdm_flow.tables.counts import Counts, count, merge
from ppdm_flow.tables.numeric.column import NumericColumn, dtype_of
from ppdm_flow.tables.schema import Schema
from ppdm_flow.tables.sets import Baskets
from ppdm_flow.tables.table import Table, concat

_GATHER = 8
_REMEMBER = 1 << 26
"""Bytes of counts that a view remembers."""


class StreamView:
    """A DataView over a stream. Small answers are remembered; it may be asked from several threads."""

    def __init__(self, stream: Stream, attributes: Sequence[AttributeFacts] | None = None) -> None:
        self.stream = stream
        self._schema = schema_of(stream.attributes if attributes is None else attributes)
        self._answers: dict[Any, Any] = {}
        self._held = 0
        self._coming: list[tuple[frozenset[str], threading.Event]] = []
        self._lock = threading.Lock()

    @property
    def schema(self) -> Schema:
        """The columns, their roles and types."""
        return self._schema

    @property
    def row_count(self) -> int:
        """The number of physical rows."""
        rows: int = self._remembered("rows", self._count_rows)
        return rows

    def counts(self, columns: Sequence[str]) -> Counts:
        """Return distinct combinations with counts; memory is bounded by their number."""
        self._known(columns)
        self._cells(columns)
        key = ("counts", tuple(columns))
        with self._lock:
            counts: Counts | None = self._answers.get(key)
        if counts is None:
            with self._after_wider(frozenset(columns)):
                counts = self._remembered(key, lambda: self._counted(tuple(columns)))
        return counts

    def count_each(self, columns: Sequence[str]) -> None:
        """Count each of these columns by itself, those where that is cheap in one pass, and remember the counts."""
        self._known(columns)
        with self._lock:
            wanted = [c for c in dict.fromkeys(columns) if ("counts", (c,)) not in self._answers]
        if len(wanted) < 2 or self._schema.weight is not None or not isinstance(self.stream, EachTalliedStream):
            return
        waiting: dict[str, list[Counts]] = {}
        with self._after_wider(frozenset(wanted)):
            for counted in self.stream.tallies_each(wanted):
                for name, counts in counted.items():
                    gathered = waiting.setdefault(name, [])
                    gathered.append(counts)
                    if len(gathered) >= _GATHER:
                        gathered[:] = [merge(gathered)]
            for name, gathered in waiting.items():
                self._remembered(("counts", (name,)), partial(merge, gathered))

    def domain(self, column: str) -> pa.StringArray:
        """Return the values that occur, sorted."""
        self._known([column])
        self._cells([column])
        return self._remembered(("domain", column), lambda: self._domain(column))

    def sample(self, size: int, columns: Sequence[str] | None = None) -> Table:
        """Return at most ``size`` rows, evenly spaced."""
        rows = self.row_count
        if rows <= size:
            return self.table(columns)
        if columns is not None:
            self._known(columns)
        names = self._schema.names if columns is None else tuple(dict.fromkeys(columns))
        wanted = (np.arange(size, dtype=np.int64) * rows) // max(1, size)
        if isinstance(self.stream, PickedStream):
            return _stacked(self.stream.rows_at(wanted, names))
        pieces = []
        start = 0
        for part in self.partitions(names):
            begin, end = np.searchsorted(wanted, [start, start + len(part)])
            if end > begin:
                pieces.append(part.take(wanted[begin:end] - start))
            start += len(part)
        return _stacked(pieces) if pieces else self._nothing(names)

    def table(self, columns: Sequence[str] | None = None) -> Table:
        """Return the whole table. Raises RunError where it is elsewhere, and more than this process may hold."""
        wanted = self._schema.names if columns is None else tuple(dict.fromkeys(columns))
        check_room(self.stream, len(wanted), "a step or an audit")
        parts = list(self.partitions(columns))
        return concat(parts) if parts else self._nothing(columns)

    def partitions(self, columns: Sequence[str] | None = None) -> Iterator[Table]:
        """Yield the table a partition at a time, in order."""
        if columns is not None:
            self._known(columns)
        wanted = self._schema.names if columns is None else tuple(dict.fromkeys(columns))
        for part in self.stream.parts(wanted):
            yield part.table

    @contextmanager
    def _after_wider(self, columns: frozenset[str]) -> Iterator[None]:
        """Wait for counts over these columns, or more, that another thread is making: these may be part of them."""
        over = threading.Event()
        with self._lock:
            coming = [event for names, event in self._coming if columns <= names]
            self._coming.append((columns, over))
        try:
            for event in coming:
                event.wait()
            yield
        finally:
            with self._lock:
                self._coming.remove((columns, over))
            over.set()

    def _count_rows(self) -> int:
        if isinstance(self.stream, CountedStream):
            return self.stream.row_count
        return sum(results(self.stream, part_length, ()))

    def _counted(self, columns: tuple[str, ...]) -> Counts:
        """Add up remembered counts over more columns, where these are fewer than the rows."""
        with self._lock:
            known = [a for a in self._answers.values() if isinstance(a, Counts) and set(columns) <= set(a.columns)]
        wider = min(known, key=len, default=None)
        if wider is not None and len(wider) <= self.row_count // 2:
            return wider.project(columns)
        return self._count(columns)

    def _count(self, columns: tuple[str, ...]) -> Counts:
        weight = self._schema.weight
        if isinstance(self.stream, DistributedStream):
            return self.stream.counts(columns, weight)
        wanted = columns if weight is None else (*columns, weight)
        waiting: list[Counts] = []
        for counted in tallies(self.stream, columns, weight):
            waiting.append(counted)
            if len(waiting) >= _GATHER and sum(map(len, waiting[1:])) >= len(waiting[0]):
                waiting = [merge(waiting)]
        return merge(waiting) if waiting else count(self._nothing(wanted), columns, weight)

    def _domain(self, column: str) -> pa.StringArray:
        if isinstance(self.stream, DistributedStream):
            counts = self.counts([column])
            return Column(counts.of(column), counts.names(column)).compact().categories
        domain = union([])
        for texts in results(self.stream, partial(texts_of, column), [column]):
            domain = union([domain, texts])
        return domain

    def _nothing(self, columns: Sequence[str] | None) -> Table:
        names = self._schema.names if columns is None else columns
        sets = [n for n in names if self._schema[n].role is Role.ITEMS]
        empty = Column(np.zeros(0, dtype=np.int32), pa.array([], pa.string()))
        plain = {
            n: _no_numbers(self._schema[n].type) if self._schema[n].numeric else empty for n in names if n not in sets
        }
        return Table(plain, np.zeros(0, dtype=np.int64), {n: Baskets.of([]) for n in sets})

    def _known(self, columns: Sequence[str]) -> None:
        for name in columns:
            if name not in self._schema:
                raise unknown(name, self._schema.names)

    def _cells(self, columns: Sequence[str]) -> None:
        for name in columns:
            if self._schema[name].role is Role.ITEMS:
                raise data_fault(
                    "PPF573",
                    f"`{name}` holds sets of items: they have no counts and no single values",
                    advice="name an ordinary attribute here",
                )

    def _remembered(self, key: Any, ask: Callable[[], Any]) -> Any:
        with self._lock:
            if key in self._answers:
                return self._answers[key]
        answer = ask()
        size = answer.codes.nbytes + answer.counts.nbytes if isinstance(answer, Counts) else 0
        with self._lock:
            if key not in self._answers and self._held + size <= _REMEMBER:
                self._answers[key] = answer
                self._held += size
        return answer


def _no_numbers(kind: AttributeType) -> NumericColumn:
    return NumericColumn(np.zeros(0, dtype=dtype_of(kind)), kind)


def unknown(name: str, known: Sequence[str]) -> DataError:
    """Build the error for a column that a view does not have."""
    return data_fault("PPF708", f"there is no column `{name}` here", hint=did_you_mean(name, known))


def part_length(part: StreamPart) -> int:
    """Return how many rows a partition has."""
    return len(part.table)


def texts_of(column: str, part: StreamPart) -> pa.StringArray:
    """Return the texts that occur in a column of a partition."""
    return part.table[column].compact().categories


def _stacked(pieces: Iterable[Table]) -> Table:
    """Stack pieces of partitions, with no category but those that occur: where these are few, they go once."""
    stacked = concat(map(_with_few_categories, pieces))
    return Table({n: c.compact() for n, c in stacked.columns.items()}, stacked.rows, stacked.sets)


def _with_few_categories(piece: Table) -> Table:
    many = {n for n, c in piece.columns.items() if not isinstance(c, NumericColumn) and c.width > len(piece)}
    columns = {n: c.compact() if n in many else c for n, c in piece.columns.items()}
    return Table(columns, piece.rows, {n: s.compact() for n, s in piece.sets.items()})
