"""Audits of the releases of linked tables as one table: that of whoever has them all, and joins them by their keys."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pyarrow as pa

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.phrases import listed
from ppdm_flow.core.requirement import Requirement
from ppdm_flow.engine.judging.auditing import AuditSubject
from ppdm_flow.engine.judging.joining.joined import JoinedAudit
from ppdm_flow.engine.judging.joining.layout import layout
from ppdm_flow.engine.judging.joining.numbered import NumberedStream
from ppdm_flow.engine.judging.joining.table import JoinedStream, JoinedTable, joined_table
from ppdm_flow.engine.linked.sources import LinkedOriginals, in_order
from ppdm_flow.engine.linked.universe import NOWHERE, Bools, Places, RowsInTurn, Universe
from ppdm_flow.engine.options import RunContext
from ppdm_flow.engine.steps.graph import Graph
from ppdm_flow.engine.streams.pairs import StreamPairs
from ppdm_flow.engine.streams.stream import Stream
from ppdm_flow.engine.streams.view import StreamView
from ppdm_flow.plan.definition import AuditNode, LinkedTable, Plan, PlannedTableJoin, ReleaseNode
from ppdm_flow.plan.linked.qualifying import qualified_facts
from ppdm_flow.policy.linked import plain_name, table_name
from ppdm_flow.tables.column import MISSING, Column
from ppdm_flow.tables.numeric.column import NumericColumn
from ppdm_flow.tables.table import Table

_NAMES = 6
_SEVERAL = 2
_IN_TURN = ", row by row"
"""Ends the name of a join whose tables' rows stand below each other."""


@dataclass(frozen=True, slots=True, eq=False)
class LinkedReleases:
    """The releases of linked tables: ``streams`` by table and release, and whose each row of a table is.

    ``rows`` are the numbers of a table's rows, ascending, of which each stream has some; ``people`` says whose each of
    these is, one of ``count``. These are the rows of the originals where ``paired``, else those of released files.
    """

    streams: Mapping[str, Mapping[str, tuple[ReleaseNode, Stream]]]
    rows: Mapping[str, Places]
    people: Mapping[str, Places]
    count: int
    paired: bool

    @classmethod
    def of_run(cls, plan: Plan, originals: LinkedOriginals, graphs: Mapping[str, Graph]) -> LinkedReleases:
        """Return what the steps of a run release."""
        streams = {
            table.name: {r.name: (r, graphs[table.name].streams[r.input]) for r in table.plan.releases}
            for table in plan.tables
        }
        rows = {name: _row_numbers(original.stream) for name, original in originals.tables.items()}
        return cls(streams, rows, originals.people, originals.count, paired=True)


@dataclass(frozen=True, slots=True)
class JoinSource:
    """What a join of linked tables is made of: their plans, originals, and releases."""

    context: RunContext
    originals: LinkedOriginals
    releases: LinkedReleases

    def audits(self, join: PlannedTableJoin) -> list[JoinedAudit]:
        """Return the audits of the joined table. Raises TooManyRowsError."""
        tables = [table for table in self.context.plan.tables if table.name in join.tables]
        parts = [_TableRows.of(table, join, self.releases) for table in tables]
        audits = self._audits(join, _by_secret(join.plan.audits), parts, Universe.of)
        referring = [table.name for table in tables if table.refers is not None]
        if len(referring) < _SEVERAL or join.plan.people is None or join.plan.people.known_rows == 1:
            return audits
        nodes = _by_secret(_in_turn(join.plan.audits, frozenset(referring)))
        turns = partial(RowsInTurn.of, referring=referring)
        return [*audits, *self._audits(join, nodes, parts, turns)]

    def _audits(
        self,
        join: PlannedTableJoin,
        nodes: Iterable[AuditNode],
        parts: Sequence[_TableRows],
        universe_of: Callable[[Mapping[str, Places], int], Universe | RowsInTurn],
    ) -> list[JoinedAudit]:
        tables = [part.table for part in parts]
        releases, originals = self.releases, self.originals
        universe = universe_of({table.name: releases.people[table.name] for table in tables}, releases.count)
        of_originals = universe
        if not releases.paired:
            people = {table.name: originals.people[table.name] for table in tables}
            of_originals = universe_of(people, originals.count)
        rows, places = universe.released({part.table.name: part.released for part in parts})
        at = {name: held for part in parts for name, held in part.places(places[part.table.name]).items()}
        streams = [stream for part in parts for stream in part.streams]
        made = joined_table(rows, at, layout([s.release for s in streams], (), None), streams)
        original = self._stream(join.plan.source.attributes, self._original(join, tables, of_originals))
        why = _reason([stream.release.name for stream in streams])
        owners = original if releases.paired else self._stream(join.plan.source.attributes, self._whose(join, universe))
        audits = []
        for node in nodes:
            release = replace(join.plan.releases[0], name=node.release, attributes=made.attributes)
            candidate = self._stream(made.attributes, _having(node, made, places))
            pairs = StreamPairs(owners, candidate, aligned=True)
            subject = _subject(release, original, candidate)
            known = replace(subject, pairs=pairs) if releases.paired else replace(subject, pseudonyms=pairs)
            audits.append(JoinedAudit(node, known, why))
        return audits

    def _whose(self, join: PlannedTableJoin, universe: Universe | RowsInTurn) -> Table:
        """Return a number for the person of each row of a universe, in place of the subject."""
        codes = universe.person.astype(np.int32)
        numbers = pa.array(np.arange(self.releases.count), pa.int64()).cast(pa.string())
        return Table({_subject_of(join): Column(codes, numbers)}, np.arange(len(codes), dtype=np.int64))

    def _original(
        self, join: PlannedTableJoin, tables: Sequence[LinkedTable], universe: Universe | RowsInTurn
    ) -> Table:
        """Return the originals, joined, under the names that attributes have among several tables."""
        subject = _subject_of(join)
        columns: dict[str, Column] = {}
        for table in tables:
            names = {f.name: plain_name(table.name, f.name) for f in join.plan.source.attributes if f.name != subject}
            read = {a.name for a in self.originals.tables[table.name].stream.attributes}
            wanted = {name: plain for name, plain in names.items() if plain is not None and plain in read}
            if wanted:
                whole = in_order(self.originals.tables[table.name].stream, list(wanted.values()))
                at = universe.places[table.name]
                columns |= {name: _at(whole[c], at) for name, c in wanted.items() if c in whole.columns}
        people = next(table for table in self.context.plan.tables if table.refers is None)
        keys = in_order(self.originals.tables[people.name].stream, [people.person])
        columns[subject] = keys[people.person].take(universe.person)
        return Table(columns, np.arange(len(universe.person), dtype=np.int64))

    def _stream(self, attributes: Sequence[AttributeFacts], table: Table) -> JoinedStream:
        known = [a for a in attributes if a.name in table.columns]
        return JoinedStream(known, table, self.context.options.partition_rows, self.context.stop)


@dataclass(frozen=True, slots=True)
class _TableStream(NumberedStream):
    """A release whose columns have the names that they have among several tables."""

    table: str = ""

    def tables(self, columns: Sequence[str]) -> Iterator[Table]:
        """Yield partitions with these columns."""
        plain = {name: plain_name(self.table, name) or name for name in columns}
        for part in NumberedStream.tables(self, list(plain.values())):
            yield Table({name: part[own] for name, own in plain.items()}, part.rows)


@dataclass(frozen=True, slots=True, eq=False)
class _TableRows:
    """The releases of a table that are joined: ``numbers`` are those of all its rows, ``held`` those of a release."""

    table: LinkedTable
    streams: tuple[_TableStream, ...]
    numbers: Places
    held: Mapping[str, Places]

    @classmethod
    def of(cls, table: LinkedTable, join: PlannedTableJoin, releases: LinkedReleases) -> _TableRows:
        """Return those of a table in a join."""
        streams = tuple(
            _TableStream(
                replace(node, attributes=qualified_facts(node.attributes, table, _subject_of(join))),
                stream,
                table=table.name,
            )
            for name, (node, stream) in releases.streams[table.name].items()
            if name in join.releases[table.name]
        )
        held = {s.release.name: _row_numbers(s.stream) for s in streams}
        return cls(table, streams, releases.rows[table.name], held)

    @property
    def released(self) -> Bools:
        """Which rows of the table, in the order of their numbers, are in a release."""
        return np.isin(self.numbers, np.concatenate(list(self.held.values())))

    def places(self, places: Places) -> dict[str, Places]:
        """Return for each release the place of each joined row in it, for its place in the table, or ``NOWHERE``."""
        number = np.append(self.numbers, NOWHERE)[places]
        return {name: _within(own, number) for name, own in self.held.items()}


def _in_turn(nodes: Iterable[AuditNode], referring: frozenset[str]) -> Iterator[AuditNode]:
    """Yield the audits of what several rows of a person tell, with requirements that no secret of theirs is about."""
    for node in nodes:
        own = [r for r in node.requirements if not (r.in_population or r.numbers)]
        own = [r for r in own if _tables_of_secrets(r).isdisjoint(referring)]
        if own:
            yield replace(node, requirements=tuple(own), release=f"{node.release}{_IN_TURN}")


def _by_secret(nodes: Iterable[AuditNode]) -> Iterator[AuditNode]:
    """Yield the audits with requirements whose secrets lie in the same tables."""
    for node in nodes:
        groups: dict[frozenset[str], list[Requirement]] = {}
        for requirement in node.requirements:
            groups.setdefault(_tables_of_secrets(requirement), []).append(requirement)
        yield from (replace(node, requirements=tuple(group)) for group in groups.values())


def _tables_of_secrets(requirement: Requirement) -> frozenset[str]:
    return frozenset(table_name(name) for name in requirement.secrets)


def _having(node: AuditNode, made: JoinedTable, places: Mapping[str, Places]) -> Table:
    """Return the joined rows that an audit is about: those with a row in the tables of what must not be inferred.

    That somebody has no row there is what both releases are for; no value of it can be inferred.
    """
    hides = any(r.in_population or r.numbers for r in node.requirements)
    table = made.unknowing if hides else made.table
    there = [places[name] != NOWHERE for name in _tables_of_secrets(node.requirements[0])]
    return table.take(np.logical_and.reduce(there)) if there else table


def _subject_of(join: PlannedTableJoin) -> str:
    people = join.plan.people
    return "" if people is None else people.subject


def _subject(release: ReleaseNode, original: Stream, candidate: JoinedStream) -> AuditSubject:
    return AuditSubject(
        release=release,
        file=None,
        original=StreamView(original),
        candidate=StreamView(candidate),
        read_back=candidate,
        original_attributes=original.attributes,
    )


def _row_numbers(stream: Stream) -> Places:
    """Return the numbers of a stream's rows, ascending."""
    parts = [part.table.rows for part in stream.parts([])]
    return np.sort(np.concatenate(parts)) if parts else np.zeros(0, dtype=np.int64)


def _within(own: Places, number: Places) -> Places:
    """Return the place of each row number among those of a release."""
    at = np.minimum(np.searchsorted(own, number), len(own) - 1)
    return np.where(own[at] == number, at, NOWHERE)


def _at(column: Column, places: Places) -> Column:
    """Return the cells at places; a row that is not there has a missing one."""
    absent = places == NOWHERE
    if not len(column):
        return Column(np.full(len(places), MISSING, dtype=np.int32), column.categories)
    taken = column.take(np.maximum(places, 0))
    if isinstance(taken, NumericColumn):
        missing = absent if taken.missing is None else taken.missing | absent
        return NumericColumn(taken.values, taken.kind, missing)
    return Column(np.where(absent, np.int32(MISSING), taken.codes), taken.categories)


def _reason(names: Sequence[str]) -> str:
    quoted = listed([f"`{name}`" for name in names], _NAMES)
    return f" Whoever has {quoted} joins them by their keys, so they are judged as one table."
