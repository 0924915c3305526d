"""Joins of a run's releases, each judged as one more release: its rows, its audits, and the reason for the join."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ppdm_flow.core.roles import Role
from ppdm_flow.engine.judging.auditing import AuditResult, AuditSubject
from ppdm_flow.engine.judging.joining.rows import (
    CellHashes,
    JoinedRows,
    NumberedStream,
    columns_to_compare,
    join_rows,
    reason,
    renumber,
)
from ppdm_flow.engine.judging.joining.table import JoinedStream, JoinedTable, joined_table, layout, origins
from ppdm_flow.engine.steps.graph import Graph
from ppdm_flow.engine.streams.multiset import MultisetHash
from ppdm_flow.engine.streams.stream import Stop, Stream, StreamPairs
from ppdm_flow.engine.streams.view import StreamView
from ppdm_flow.plan.definition import AuditNode, Plan, ReleaseNode
from ppdm_flow.plan.together import SIGN, links, read_together
from ppdm_flow.tables.table import Table


@dataclass(frozen=True, slots=True)
class JoinedAudit:
    """An audit of releases that are read as one table; ``why`` is a sentence on how they are joined."""

    node: AuditNode
    subject: AuditSubject
    why: str = ""

    def explained(self, audited: AuditResult) -> AuditResult:
        """Return the outcome with that sentence beside each figure that a requirement is judged by."""
        measured = tuple(replace(m, sentence=f"{m.sentence}{self.why}") for m in audited.outcome.measured)
        return replace(audited, outcome=replace(audited.outcome, measured=measured))


def joined_audits(
    plan: Plan, subjects: Sequence[AuditSubject], graph: Graph, original: Stream, partition_rows: int, stop: Stop
) -> tuple[JoinedAudit, ...]:
    """Return the audits of requirements on groups and numbers, for each set of releases that have rows to be joined.

    ``subjects`` are the releases by themselves; those whose rows belong to nobody are not joined.
    """
    nodes = [n for n in plan.audits if any(r.on_joined for r in n.requirements)]
    people = [s for s in subjects if s.pairs is not None]
    if not nodes or not read_together(plan) or len(people) < 2:
        return ()
    streams = {s.release.name: s for s in renumber([p.release for p in people], graph)}
    single = any(graph.expanded(p.release.input) for p in people)
    if single and graph.numbering is not None and any(a.role is Role.WEIGHT for a in original.attributes):
        original = graph.engine.expanded(original, graph.numbering)
    making = _JoinSource(plan, {s.release.name: s for s in people}, streams, original, partition_rows, stop)
    prints, joined_rows = _find_joins(list(streams.values()))
    return tuple(
        audit
        for names in _connected(joined_rows, list(streams.values()))
        for audit in making.audits(nodes, names, prints, _within(joined_rows, names))
    )


@dataclass(frozen=True, slots=True)
class _JoinSource:
    """The inputs of a joined table."""

    plan: Plan
    subjects: dict[str, AuditSubject]
    streams: dict[str, NumberedStream]
    original: Stream
    partition_rows: int
    stop: Stop

    def audits(
        self,
        nodes: Iterable[AuditNode],
        names: Sequence[str],
        prints: dict[str, CellHashes],
        joined_rows: Sequence[JoinedRows],
    ) -> list[JoinedAudit]:
        """Return the audits of one joined table; none where no column depends on an attribute of a requirement."""
        releases = [self.streams[n].release for n in names]
        columns = layout(releases, joined_rows, joined_attributes(self.plan))
        if not columns:
            return []
        rows, places = origins({n: prints[n].rows for n in names}, joined_rows)
        made = joined_table(rows, places, columns, [self.streams[n] for n in names])
        release = replace(
            self.subjects[names[0]].release,
            name=SIGN.join(names),
            path="",
            attributes=made.attributes,
            spans=tuple(s for n in names for s in self.subjects[n].release.spans),
        )
        every, why = self._subject(release, made, made.table), reason(joined_rows)
        audits = []
        for node in self._nodes(nodes, names, release.name):
            subject = every
            if any(r.counts_whole_rows for r in node.requirements):
                subject = self._subject(release, made, made.of_all_releases)
            elif any(r.in_population or r.numbers for r in node.requirements):
                subject = self._subject(release, made, made.unknowing)
            if subject.candidate.row_count:
                audits.append(JoinedAudit(node, subject, why))
        return audits

    def _nodes(self, nodes: Iterable[AuditNode], names: Sequence[str], release: str) -> list[AuditNode]:
        """Return an audit of the joined table for each kind of requirement, with those about any of its releases."""
        by_kind = {n.bound.info.name: n for n in reversed(list(nodes)) if n.release in names}
        audits = []
        for kind, node in reversed(by_kind.items()):
            judged = tuple(r for r in self.plan.requirements if r.kind == kind and any(map(r.concerns, names)))
            audits += [replace(node, release=release, requirements=judged)] if judged else []
        return audits

    def _subject(self, release: ReleaseNode, made: JoinedTable, table: Table) -> AuditSubject:
        stream = JoinedStream(made.attributes, table, self.partition_rows, self.stop)
        return AuditSubject(
            release=release,
            file=None,
            original=StreamView(self.original),
            candidate=StreamView(stream),
            read_back=stream,
            original_attributes=self.original.attributes,
            pairs=StreamPairs(self.original, stream, aligned=True),
        )


def joined_attributes(plan: Plan) -> frozenset[str] | None:
    """Return the attributes of the source that the plan's requirements on groups and on numbers are about.

    None means all attributes, where people or whole rows are counted: any column may show which rows are one person's.
    """
    if plan.people is not None or any(r.counts_whole_rows for r in plan.requirements):
        return None
    names = {a.name for a in plan.source.attributes if a.role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE)}
    for requirement in plan.requirements:
        if requirement.on_groups:
            names |= {*requirement.grouping, *requirement.secrets}
        names |= {*requirement.numbers}
        names |= {*requirement.secrets} if requirement.on_sets else set()
    return frozenset(names)


def _find_joins(streams: Sequence[NumberedStream]) -> tuple[dict[str, CellHashes], tuple[JoinedRows, ...]]:
    """Read what may join the releases, and return the pairs of them of which some rows are joined."""
    possible = links([s.release for s in streams])
    key = MultisetHash.fresh_key()
    there = {node.name for link in possible for node in (link.one, link.other)}
    prints = {
        s.release.name: CellHashes.of(s, columns_to_compare(possible, s.release.name), key)
        for s in streams
        if s.release.name in there
    }
    pairs = (join_rows(link, prints[link.one.name], prints[link.other.name]) for link in possible)
    return prints, tuple(pair for pair in pairs if pair is not None)


def _connected(joined_rows: Sequence[JoinedRows], streams: Sequence[NumberedStream]) -> list[tuple[str, ...]]:
    """Return the sets of releases that are joined, directly or through others."""
    groups: list[list[str]] = []
    for pair in joined_rows:
        names = [pair.link.one.name, pair.link.other.name]
        touched = [g for g in groups if not set(g).isdisjoint(names)]
        merged = list(dict.fromkeys((*(n for g in touched for n in g), *names)))
        groups = [g for g in groups if g not in touched] + [merged]
    order = [s.release.name for s in streams]
    return [tuple(sorted(g, key=order.index)) for g in groups]


def _within(joined_rows: Sequence[JoinedRows], names: Sequence[str]) -> list[JoinedRows]:
    return [j for j in joined_rows if j.link.one.name in names]
