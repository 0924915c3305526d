"""Audits of the releases of linked tables as one table: that of whoever has them all, and joins them by their keys."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.phrases import listed
from ppdm_flow.core.requirement import Requirement
from ppdm_flow.engine.judging.auditing import Subject
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
from ppdm_flow.plan.definition import AuditNode, LinkedTable, ReleaseNode, TableJoin
from ppdm_flow.plan.linked.qualifying import qualified_facts
from ppdm_flow.policy.linked import plain_name, table_name
from ppdm_flow.tables.column import MISSING, Column
from ppdm_flow.tables.numeric.column import NumericColumn
from ppdm_flow.tables.table import Table

_NAMES = 6
_SEVERAL = 2
_IN_TURN = ", row by row"
"""Ends the name of a join whose tables' rows stand below each other."""


@dataclass(frozen=True, slots=True)
class JoinSource:
    """What a join of linked tables is made of: their plans, originals, and steps by table."""

    context: RunContext
    originals: LinkedOriginals
    graphs: Mapping[str, Graph]

    def audits(self, join: TableJoin) -> list[JoinedAudit]:
        """Return the audits of the joined table. Raises TooManyRowsError."""
        tables = [table for table in self.context.plan.tables if table.name in join.tables]
        people = {table.name: self.originals.people[table.name] for table in tables}
        parts = [_TableRows.of(table, join, self.originals, self.graphs[table.name]) for table in tables]
        whole = Universe.of(people, self.originals.count)
        audits = self._audits(join, _by_secret(join.plan.audits), parts, whole)
        referring = [table.name for table in tables if table.refers is not None]
        if len(referring) < _SEVERAL or join.plan.people is None or join.plan.people.known_rows == 1:
            return audits
        nodes = _by_secret(_in_turn(join.plan.audits, frozenset(referring)))
        turns = RowsInTurn.of(people, self.originals.count, referring)
        return [*audits, *self._audits(join, nodes, parts, turns)]

    def _audits(
        self, join: TableJoin, nodes: Iterable[AuditNode], parts: Sequence[_TableRows], universe: Universe | RowsInTurn
    ) -> list[JoinedAudit]:
        tables = [part.table for part in parts]
        rows, places = universe.released({part.table.name: part.released for part in parts})
        at = {name: held for part in parts for name, held in part.places(places[part.table.name]).items()}
        streams = [stream for part in parts for stream in part.streams]
        made = joined_table(rows, at, layout([s.release for s in streams], (), None), streams)
        original = self._stream(join.plan.source.attributes, self._original(join, tables, universe))
        why = _reason([stream.release.name for stream in streams])
        audits = []
        for node in nodes:
            release = replace(join.plan.releases[0], name=node.release, attributes=made.attributes)
            candidate = self._stream(made.attributes, _having(node, made, places))
            audits.append(JoinedAudit(node, _subject(release, original, candidate), why))
        return audits

    def _original(self, join: TableJoin, tables: Sequence[LinkedTable], universe: Universe | RowsInTurn) -> Table:
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
    def of(cls, table: LinkedTable, join: TableJoin, originals: LinkedOriginals, graph: Graph) -> _TableRows:
        """Return those of a table in a join."""
        streams = tuple(
            _TableStream(
                replace(r, attributes=qualified_facts(r.attributes, table, _subject_of(join))),
                graph.streams[r.input],
                table=table.name,
            )
            for r in table.plan.releases
            if r.name in join.releases[table.name]
        )
        held = {s.release.name: _row_numbers(s.stream) for s in streams}
        return cls(table, streams, _row_numbers(originals.tables[table.name].stream), held)

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


def _subject_of(join: TableJoin) -> str:
    people = join.plan.people
    return "" if people is None else people.subject


def _subject(release: ReleaseNode, original: Stream, candidate: JoinedStream) -> Subject:
    return Subject(
        release=release,
        file=None,
        original=StreamView(original),
        candidate=StreamView(candidate),
        read_back=candidate,
        original_attributes=original.attributes,
        pairs=StreamPairs(original, candidate, aligned=True),
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
