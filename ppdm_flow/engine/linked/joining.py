"""Audits of the releases of linked tables as one table, as an adversary who has them all joins them by their keys."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.phrases import listed
from ppdm_flow.core.requirement import Requirement
from ppdm_flow.core.results import Finding, RequirementResult, StepResult
from ppdm_flow.engine.judging.auditing import AuditResult, AuditSubject, audit_all, refuse_quoting_audits
from ppdm_flow.engine.judging.joining.joined import JoinedAudit
from ppdm_flow.engine.judging.joining.rows import NumberedStream
from ppdm_flow.engine.judging.joining.table import JoinedStream, JoinedTable, joined_table, layout
from ppdm_flow.engine.judging.judging import requirements_of, unmeasured
from ppdm_flow.engine.judging.results import JudgedResults, judge_audits
from ppdm_flow.engine.linked.sources import LinkedOriginals, in_order
from ppdm_flow.engine.options import RunContext
from ppdm_flow.engine.steps.graph import Graph
from ppdm_flow.engine.streams.stream import Stream, StreamPairs
from ppdm_flow.engine.streams.view import StreamView
from ppdm_flow.plan.definition import AuditNode, LinkedTable, Plan, PlannedTableJoin, ReleaseNode
from ppdm_flow.plan.linked import qualified_facts
from ppdm_flow.policy.linked import plain_name, table_name
from ppdm_flow.tables.column import MISSING, Column
from ppdm_flow.tables.numeric.column import NumericColumn
from ppdm_flow.tables.table import Table

_NAMES = 6
_SEVERAL = 2
_IN_TURN = ", row by row"
"""Ends the name of a join whose tables' rows stand below each other."""
Places = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


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
    """The inputs of a join of linked tables: their plans, originals, and releases."""

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
        at = {name: row_places for part in parts for name, row_places in part.places(places[part.table.name]).items()}
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
                ordered = in_order(self.originals.tables[table.name].stream, list(wanted.values()))
                at = universe.places[table.name]
                columns |= {name: _at(ordered[c], at) for name, c in wanted.items() if c in ordered.columns}
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
    """The releases of a table that are joined, with the row numbers of the table and of each release."""

    table: LinkedTable
    streams: tuple[_TableStream, ...]
    numbers: Places
    numbers_by_release: Mapping[str, Places]

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
        numbers_by_release = {s.release.name: _row_numbers(s.stream) for s in streams}
        return cls(table, streams, releases.rows[table.name], numbers_by_release)

    @property
    def released(self) -> Bools:
        """Which rows of the table, in the order of their numbers, are in a release."""
        return np.isin(self.numbers, np.concatenate(list(self.numbers_by_release.values())))

    def places(self, places: Places) -> dict[str, Places]:
        """Return for each release the place of each joined row in it, for its place in the table, or ``NOWHERE``."""
        number = np.append(self.numbers, NOWHERE)[places]
        return {name: _within(own, number) for name, own in self.numbers_by_release.items()}


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
    return f" A reader of {quoted} joins them by their keys, so they are judged as one table."


# The rows of several tables, joined by person, as an adversary who has all of them joins them.


NOWHERE = -1
MOST_ROWS = 50_000_000
"""So many joined rows are looked at."""


class TooManyRowsError(Exception):
    """The join has more rows than are looked at."""


@dataclass(frozen=True, slots=True, eq=False)
class Universe:
    """Each row of the outer join: ``person`` (rows,), and by table its place in it, or ``NOWHERE``.

    A person who has rows in several tables has each combination of them. ``first`` says by table where it is the
    person's first row there, or the person has none.
    """

    person: Places
    places: Mapping[str, Places]
    first: Mapping[str, Bools]

    @classmethod
    def of(cls, people: Mapping[str, Places], count: int, most: int = MOST_ROWS) -> Universe:
        """Join tables by person. Raises TooManyRowsError.

        Parameters
        ----------
        people : by table, whose each of its rows is: numbers below ``count``
        count : how many people there are
        most : how many rows are looked at
        """
        sizes = {name: np.bincount(person, minlength=count) for name, person in people.items()}
        total = np.prod([np.maximum(size, 1).astype(np.float64) for size in sizes.values()], axis=0)
        total *= np.any([size > 0 for size in sizes.values()], axis=0)
        if total.sum() > most:
            raise TooManyRowsError
        rows = total.astype(np.int64)
        person = np.repeat(np.arange(count, dtype=np.int64), rows)
        rest = np.arange(len(person), dtype=np.int64) - np.repeat(np.cumsum(rows) - rows, rows)
        places, first = {}, {}
        for name, size in sizes.items():
            own = np.maximum(size, 1)[person]
            digit, rest = rest % own, rest // own
            order = np.append(np.argsort(people[name], kind="stable"), 0)
            begins = np.cumsum(size) - size
            there = size[person] > 0
            places[name] = np.where(there, order[np.minimum(begins[person] + digit, len(order) - 1)], NOWHERE)
            first[name] = digit == 0
        return cls(person, places, first)

    def released(self, present: Mapping[str, Bools]) -> tuple[Places, dict[str, Places]]:
        """Return the rows of the join of what is released, and their places by table.

        ``present`` says by table which rows left. A person whose rows in a table were all left out is joined to nothing
        there, once.
        """
        kept = np.ones(len(self.person), dtype=bool)
        somewhere = np.zeros(len(self.person), dtype=bool)
        places = {}
        for name, place in self.places.items():
            here = (place != NOWHERE) & np.append(present[name], np.False_)[place]
            has = np.bincount(self.person[here], minlength=int(self.person.max(initial=-1)) + 1) > 0
            kept &= here | (self.first[name] & ~has[self.person])
            somewhere |= here
            places[name] = np.where(here, place, NOWHERE)
        rows = np.flatnonzero(kept & somewhere)
        return rows, {name: place[rows] for name, place in places.items()}


@dataclass(frozen=True, slots=True, eq=False)
class RowsInTurn:
    """Each row of some tables once, and each person once; ``places`` as in a universe.

    The products of two people's rows can be the same where their rows are not: two visits and one claim, or one visit
    and two claims. An adversary who knows several rows of a person knows how many there are of each table.
    ``referring`` are the tables with any number of rows of a person; the others, with one at most, stand beside each of
    these.
    """

    person: Places
    places: Mapping[str, Places]
    referring: frozenset[str]

    @classmethod
    def of(cls, people: Mapping[str, Places], count: int, referring: Collection[str]) -> RowsInTurn:
        """Put tables below each other; ``people`` and ``count`` as in a universe."""
        turns = [name for name in people if name in referring]
        person = np.concatenate([*(people[name] for name in turns), np.arange(count, dtype=np.int64)])
        ends = np.cumsum([len(people[name]) for name in turns])
        places = {}
        for name, whose in people.items():
            if name in referring:
                place = np.full(len(person), NOWHERE, dtype=np.int64)
                end = int(ends[turns.index(name)])
                place[end - len(whose) : end] = np.arange(len(whose))
            else:
                of_person = np.full(count, NOWHERE, dtype=np.int64)
                of_person[whose] = np.arange(len(whose))
                place = of_person[person]
            places[name] = place
        return cls(person, places, frozenset(referring))

    def released(self, present: Mapping[str, Bools]) -> tuple[Places, dict[str, Places]]:
        """Return the rows of what is released, and their places by table; a person alone who has no other row."""
        here = {n: (at != NOWHERE) & np.append(present[n], np.False_)[at] for n, at in self.places.items()}
        nothing = np.zeros(len(self.person), dtype=bool)
        kept = np.logical_or.reduce([nothing, *(here[name] for name in self.referring)])
        somewhere = np.logical_or.reduce([nothing, *here.values()])
        people = int(self.person.max(initial=-1)) + 1
        has = np.bincount(self.person[kept], minlength=people) > 0
        alone = np.arange(len(self.person)) >= len(self.person) - people
        rows = np.flatnonzero(kept | (alone & somewhere & ~has[self.person]))
        return rows, {n: np.where(here[n], at, NOWHERE)[rows] for n, at in self.places.items()}


# Releases of linked tables judged: each table by its own plan, and then their join.


@dataclass(frozen=True, slots=True)
class AuditedJoin:
    """A join of releases of several tables, and what was measured on it; None where ``obstacle`` says why not."""

    join: PlannedTableJoin
    audited: Sequence[AuditResult] | None
    obstacle: Finding | None = None


def audited_join(source: JoinSource, join: PlannedTableJoin, folder: Path) -> AuditedJoin:
    """Audit a join; ``folder`` is a private one for what audits write."""
    context = source.context
    try:
        audits = source.audits(join)
    except TooManyRowsError:
        return AuditedJoin(join, None, _too_many(join))
    alone = replace(context, plan=join.plan)
    results = audit_all(alone, [(a.node, a.subject) for a in audits], folder)
    for table in context.plan.tables:
        refuse_quoting_audits(table.plan, source.originals.tables[table.name].stream, results)
    return AuditedJoin(join, [audit.explained(result) for audit, result in zip(audits, results, strict=True)])


@dataclass(frozen=True, slots=True)
class TablesJudge:
    """Judges what was measured of linked tables: by table, and on their joins.

    ``unread`` says why what all files tell together was not measured, where it is not.
    """

    plan: Plan
    tables: Mapping[str, Sequence[AuditResult]]
    joins: Sequence[AuditedJoin]
    unread: Finding | None = None

    def judged(self, steps: tuple[StepResult, ...] = (), source: Iterable[Finding] = ()) -> JudgedResults:
        """Judge it. ``source`` are findings to list before their own."""
        of_tables = [result for audited in self.tables.values() for result in audited]
        of_joins = [result for each in self.joins for result in each.audited or ()]
        findings = [each for each in (*(j.obstacle for j in self.joins), self.unread) if each is not None]
        results = judge_audits(self.plan, [*of_tables, *of_joins], steps, source, findings)
        return replace(results, requirements=tuple(self._requirements()))

    def _requirements(self) -> Iterator[RequirementResult]:
        """Yield what became of each requirement: in each table that it is about, and where these are joined."""
        for requirement in self.plan.requirements:
            results = list(self._of(requirement))
            yield from results or (unmeasured(requirement, ""),)

    def _of(self, requirement: Requirement) -> Iterator[RequirementResult]:
        for table in self.plan.tables:
            yield from requirements_of(_about(table.plan, requirement), self.tables[table.name])
        if self.unread is not None and requirement.of_all_files:
            yield unmeasured(requirement, "")
        for each in self.joins:
            about = _about(each.join.plan, requirement)
            if each.audited is not None:
                yield from requirements_of(about, each.audited)
            else:
                yield from (unmeasured(r, release.name) for r in about.requirements for release in about.releases)


def _too_many(join: PlannedTableJoin) -> Finding:
    tables = listed([f"`{name}`" for name in join.tables])
    text = f"The join of {tables} has more than {MOST_ROWS:,} rows, so that nothing is measured on it."
    return Finding("PPF916", Severity.ERROR, text, join.plan.releases[0].name)


def _about(plan: Plan, requirement: Requirement) -> Plan:
    """Return the plan with that one of its requirements."""
    return replace(plan, requirements=tuple(r for r in plan.requirements if r.id == requirement.id))
