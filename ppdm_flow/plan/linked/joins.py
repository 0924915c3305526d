"""Which releases of linked tables are read as one, and what is measured on them then."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import networkx as nx

from ppdm_flow.core.attributes import AttributeFacts, Change
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.people import PeopleCount
from ppdm_flow.core.requirement import Requirement
from ppdm_flow.plan.auditing import requirement_audits
from ppdm_flow.plan.binding import Binder
from ppdm_flow.plan.definition import SOURCE, LinkedTable, Plan, PlannedTableJoin, ReleaseNode
from ppdm_flow.plan.linked.qualifying import qualified_facts, qualified_source
from ppdm_flow.plan.linked.restriction import restricted_to, tables_of
from ppdm_flow.plan.together import SIGN, links, read_together
from ppdm_flow.policy.linked import qualified

_FEWEST = 2


def joins_of(plan: Plan, binder: Binder) -> tuple[PlannedTableJoin, ...]:
    """Return the joins that requirements of several tables are judged on.

    There is one for each set of tables that a requirement is about, as far as somebody has releases with their keys.
    """
    if not read_together(plan):
        return ()
    made: dict[tuple[str, ...], list[Requirement]] = {}
    there = [t.name for t in plan.tables if _released(t)]
    for requirement in plan.requirements:
        about = tables_of(requirement)
        names = tuple(name for name in there if name in about)
        if len(names) < _FEWEST or not requirement.on_groups or requirement.successive:
            continue
        own = requirement if about <= {*names} else restricted_to(requirement, frozenset(names))
        if own is not None:
            made.setdefault(names, []).append(own)
    return tuple(_join(plan, names, about, binder) for names, about in made.items())


def unjoined(plan: Plan) -> list[Diagnostic]:
    """Return a fault for each requirement of several tables that no join can be judged by (PPF634)."""
    text = "`{}` is about several tables, and is measured on one alone"
    help_ = "state it for each table by itself, over attributes of that table"
    return [
        Diagnostic("PPF634", text.format(r.id), r.span, help=help_)
        for r in plan.requirements
        if len(tables_of(r)) >= _FEWEST and not r.on_groups and not r.successive
    ]


def _join(plan: Plan, names: tuple[str, ...], about: Sequence[Requirement], binder: Binder) -> PlannedTableJoin:
    tables = [table for table in plan.tables if table.name in names]
    releases = {table.name: _released(table) for table in tables}
    subject = qualified(tables[0].name, tables[0].person)
    first = releases[names[0]][0]
    every = [release for table in tables for release in releases[table.name]]
    requirements = tuple(_any_of(about, every))
    joined = replace(
        first,
        name=SIGN.join(release.name for release in every),
        input=SOURCE,
        path="",
        attributes=tuple(
            f for t in tables for r in releases[t.name] for f in qualified_facts(r.attributes, t, subject)
        ),
        spans=tuple(span for release in every for span in release.spans),
        ordered_by="",
    )
    source = replace(
        plan.source,
        path=None,
        attributes=tuple(_once(f for table in tables for f in qualified_source(table, subject))),
    )
    people = None if plan.people is None else PeopleCount(subject, plan.people.known_rows)
    alone = replace(
        plan,
        source=source,
        steps=(),
        releases=(joined,),
        requirements=requirements,
        audits=tuple(requirement_audits(joined, requirements, binder)),
        gates=(),
        people=people,
        tables=(),
        joins=(),
    )
    return PlannedTableJoin(names, {n: tuple(r.name for r in releases[n]) for n in names}, alone)


def _any_of(requirements: Iterable[Requirement], releases: Sequence[ReleaseNode]) -> Iterable[Requirement]:
    """Return what is about any of the releases, as a requirement on what they are joined to."""
    for requirement in requirements:
        if any(requirement.concerns(release.name) for release in releases):
            yield requirement.changed(releases=()) if requirement.releases else requirement


def _released(table: LinkedTable) -> tuple[ReleaseNode, ...]:
    """Return the releases of people's rows that have the key, and those joined to these, be it over others."""
    own = [r for r in table.plan.releases if not all(f.was(Change.GENERATED) for f in r.attributes)]
    keyed = {r.name for r in own if any(f.carries(table.person) for f in r.attributes)}
    joined = nx.Graph((link.one.name, link.other.name) for link in links(own))
    names = keyed.union(*(part for part in nx.connected_components(joined) if part & keyed))
    return tuple(r for r in own if r.name in names)


def _once(facts: Iterable[AttributeFacts]) -> Iterable[AttributeFacts]:
    """Return each attribute once: that of the person is one of every table."""
    by_name: dict[str, AttributeFacts] = {}
    for fact in facts:
        by_name.setdefault(fact.name, fact)
    return by_name.values()
