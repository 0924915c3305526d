"""Linked tables: a plan for each, keys that change alike, and the joins that a reader of them all can make."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import networkx as nx

from ppdm_flow.core.attributes import AttributeFacts, Change
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.people import PeopleCount
from ppdm_flow.core.requirement import Requirement
from ppdm_flow.core.roles import Role
from ppdm_flow.core.spans import Span
from ppdm_flow.plan.auditing import requirement_audits
from ppdm_flow.plan.binding import Binder, Wiring, wire
from ppdm_flow.plan.dag import SOURCE, base
from ppdm_flow.plan.definition import SOURCE as DEFINITION_SOURCE
from ppdm_flow.plan.definition import LedgerNode, LinkedTable, Plan, PlannedTableJoin, ReleaseNode, StepNode
from ppdm_flow.plan.flow import facts_of, resolved
from ppdm_flow.plan.table_compiler import TableCompiler, clashes, dangling, of_steps, on_columns, redefined, unmeasured
from ppdm_flow.plan.together import SIGN, links, read_together
from ppdm_flow.policy import declared_values, gates_of, requirements_of
from ppdm_flow.policy.counting import people_of, subject_attribute
from ppdm_flow.policy.language.models import Policy, Step
from ppdm_flow.policy.linked import plain_name, qualified, subject_table, table_name, table_places, table_policy
from ppdm_flow.policy.loaded import PolicyPath, PolicyReading, ResolvedPlaces

Fields = Mapping[str, object]
Rename = Callable[[str], str]


# A policy of linked tables: each compiled alone, as a policy of one table is, and all put together.


class LinkedCompiler:
    """The stages of the compilation of linked tables. ``columns`` are those of each table's data, where known."""

    def __init__(self, loaded: PolicyReading, policy: Policy, columns: Mapping[str, Sequence[str]] | None) -> None:
        self.loaded = loaded
        self.policy = policy
        self.columns = columns
        self.places = loaded.places
        self.home = Path(loaded.file).absolute().parent
        self.diagnostics: list[Diagnostic] = []
        self.people = subject_table(policy)

    def compile(self) -> tuple[Plan, list[Diagnostic]]:
        """Return the plan, without a digest, and everything that is wrong with it."""
        requirements = self._requirements()
        wiring = self._wiring()
        self.diagnostics += [*wiring.diagnostics, *_several_inputs(wiring, self.places)]
        roots = _roots(wiring, tuple(self.policy.tables))
        alone = {name: self._table(name, requirements, wiring, roots, ()) for name in self.policy.tables}
        keys = key_steps(self.policy, [table for table, _ in alone.values()], self.places)
        self.diagnostics += keys.diagnostics
        tables, faults = [], []
        for name, (table, diagnostics) in alone.items():
            added = [a for a in keys.added if any(r.name == a.release for r in table.plan.releases)]
            complete, said = self._table(name, requirements, wiring, roots, added) if added else (table, diagnostics)
            tables.append(complete)
            faults += said
        self.diagnostics += faults
        return self._together(tuple(tables), requirements), self.diagnostics

    def _requirements(self) -> tuple[Requirement, ...]:
        requirements = requirements_of(self.policy, self.places)
        if self.columns is None:
            return requirements
        names = [qualified(table, column) for table, columns in self.columns.items() for column in columns]
        attributes, _ = resolved(self.policy, self.places, names)
        requirements, uncovered = on_columns(requirements, facts_of(attributes, self.places))
        self.diagnostics += uncovered
        return requirements

    def _wiring(self) -> Wiring:
        steps = {name: step.input for name, step in self.policy.steps.items()}
        releases = {name: release.from_ for name, release in self.policy.releases.items()}
        return wire(steps, releases, self.places, tuple(self.policy.tables))

    def _table(
        self,
        name: str,
        requirements: tuple[Requirement, ...],
        wiring: Wiring,
        roots: Mapping[str, str],
        added: Sequence[AddedStep],
    ) -> tuple[LinkedTable, list[Diagnostic]]:
        """Compile one table, with steps on its key that nobody wrote."""
        entry = self.policy.tables[name]
        policy = with_steps(_of_table(self.policy, name, wiring, roots), added)
        places = with_places(table_places(self.places, name), added)
        person = next(iter(entry.refers), None) or plain_name(name, subject_attribute(self.policy) or "") or ""
        keys = tuple(dict.fromkeys(k for k in (entry.key, person) if k))
        columns = None if self.columns is None else self.columns[name]
        loaded = replace(self.loaded, places=places)
        own = restricted(requirements, name)
        plan, diagnostics = TableCompiler(loaded, policy, columns, None, own, keys).compile()
        steps = tuple(replace(s, implicit=True) if s.name in {a.name for a in added} else s for s in plan.steps)
        plan = replace(plan, steps=steps)
        return LinkedTable(name, entry.key, person, next(iter(entry.refers.values()), None), plan), diagnostics

    def _together(self, tables: tuple[LinkedTable, ...], requirements: tuple[Requirement, ...]) -> Plan:
        policy, plans = self.policy, [table.plan for table in tables]
        steps = tuple(_rooted(step, table.name) for table in tables for step in table.plan.steps)
        names = {table.name: table for table in tables}
        first = names[self.people] if self.people in names else tables[0]
        audits = tuple(audit for plan in plans for audit in plan.audits)
        releases = tuple(
            replace(release, input=_reference(release.input, table.name))
            for table in tables
            for release in table.plan.releases
        )
        plan = replace(
            first.plan,
            steps=steps,
            audits=audits,
            releases=tuple(sorted(releases, key=lambda r: list(policy.releases).index(r.name))),
            requirements=requirements,
            gates=of_steps(gates_of(policy, self.places), [step.name for step in steps]),
            declared=declared_values(policy, requirements),
            people=people_of(policy),
            ledger=self._ledger(first.plan),
            keys=(),
            tables=tables,
        )
        binder = Binder(self.places)
        plan = replace(plan, joins=joins_of(plan, binder))
        self.diagnostics += [*binder.diagnostics, *unjoined(plan)]
        self._judge_gates(plan)
        return plan

    def _ledger(self, first: Plan) -> LedgerNode | None:
        """Return the ledger of all tables, which knows people by the one subject."""
        return first.ledger and replace(first.ledger, subject=subject_attribute(self.policy))

    def _judge_gates(self, plan: Plan) -> None:
        policy, audits = self.policy, plan.audits
        owners = (
            *policy.audits,
            *policy.steps,
            *(step.name for step in plan.steps),
            *(audit.name for audit in audits),
            *(requirement.id for requirement in plan.requirements),
        )
        self.diagnostics += clashes(policy, [a.name for a in audits if a.implicit], self.places)
        self.diagnostics += dangling(plan.gates, owners, policy.releases, self.places)
        self.diagnostics += unmeasured(plan.gates, audits, policy.releases, self.places)
        self.diagnostics += redefined(plan.gates, audits, self.places)


def _several_inputs(wiring: Wiring, places: ResolvedPlaces) -> Iterator[Diagnostic]:
    """Yield the steps with several inputs: each table is compiled alone, and such a step may be of two."""
    for name, inputs in wiring.inputs.items():
        if inputs is not None and len(inputs) > 1:
            text = f"step `{name}` has {len(inputs)} inputs, and steps of linked tables take one"
            yield Diagnostic("PPF636", text, places.value("steps", name, "input"), help="name one of them")


def _roots(wiring: Wiring, tables: tuple[str, ...]) -> dict[str, str]:
    """Return the table that each step and each release's origin begins with, where that is known."""
    order = {*tables, *wiring.order}
    return {node: table for table in tables for node in (table, *nx.descendants(wiring.graph, table)) if node in order}


def _of_table(policy: Policy, table: str, wiring: Wiring, roots: Mapping[str, str]) -> Policy:
    """Return the policy of one table, with the steps and releases that begin with it."""

    def own(reference: str | None) -> bool:
        return reference is not None and roots.get(base(reference)) == table

    def read(step: str) -> tuple[str, ...]:
        """Return the first input of this table; further ones are reported elsewhere."""
        return tuple(_own_reference(r, table) for r in wiring.inputs[step] or () if own(r))[:1]

    steps = {
        name: step.model_copy(update={"input": read(name)})
        for name, step in policy.steps.items()
        if roots.get(name) == table
    }
    releases = {
        name: release.model_copy(update={"from_": _own_reference(wiring.origins[name] or "", table)})
        for name, release in policy.releases.items()
        if own(wiring.origins[name])
    }
    audits = {name: audit for name, audit in policy.audits.items() if audit.release in releases}
    update = {"steps": steps, "releases": releases, "audits": audits, "gates": {}, "waivers": {}}
    return table_policy(policy, table).model_copy(update=update)


def _own_reference(reference: str, table: str) -> str:
    return SOURCE if reference == table else reference


def _reference(reference: str, table: str) -> str:
    return table if reference == SOURCE else reference


def _rooted(step: StepNode, table: str) -> StepNode:
    return replace(step, inputs=tuple(_reference(reference, table) for reference in step.inputs))


# A step on a key changes it in every table alike: what one table has a step for is done at the end of every other way.
#
# Somebody with two releases joins them by their keys; a key that is changed in one of them alone would join nothing.


_BY_NAME = "attribute"
"""The scope of pseudonyms that depend on the column's name."""
_ATTRIBUTES = "attributes"


@dataclass(frozen=True, slots=True)
class KeyWay:
    """The changes of a table's key on the way to a release.

    ``column`` is its name at the end where nobody has changed it, ``change`` the step that did; neither is there where
    the key does not reach the release.
    """

    column: str | None = None
    change: StepNode | None = None
    name_before: str = ""


@dataclass(frozen=True, slots=True)
class KeyStep:
    """A written step that changes a key, which it calls ``column``."""

    name: str
    written: Step
    column: str

    @property
    def asks(self) -> tuple[str, Fields]:
        """What it does, without the attributes it does it to."""
        return self.written.use, {key: value for key, value in self.written.with_.items() if key != _ATTRIBUTES}


@dataclass(frozen=True, slots=True)
class AddedStep:
    """A step that nobody wrote: what ``like`` does, to the key of another table, before ``release``."""

    name: str
    like: KeyStep
    step: Step
    release: str


@dataclass(slots=True)
class KeySteps:
    """The steps on keys, those that have to be added, and what is wrong with them."""

    steps: list[KeyStep] = field(default_factory=list)
    added: list[AddedStep] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)


def key_way(table: LinkedTable, release: ReleaseNode) -> KeyWay:
    """Follow the key of a table to one of its releases."""
    column = table.person
    chain = table.plan.upstream(release.input)
    references = [*(node.input for node in chain[1:]), release.input]
    for node, reference in zip(chain, references, strict=False):  # a release of the table itself has no step
        effect = node.effect
        if column in effect.drops or effect.rows == "generated":
            return KeyWay()
        if column in effect.changes:
            return KeyWay(change=node, name_before=column)
        column = effect.renames.get(column, column)
        if effect.outputs and column not in effect.outputs.get(reference.partition(".")[2], ()):
            return KeyWay()
    return KeyWay(column)


def key_steps(policy: Policy, tables: Iterable[LinkedTable], places: ResolvedPlaces) -> KeySteps:
    """Return the steps that change keys, each once for what it does, and those to be added."""
    result = KeySteps()
    ways = [(table, release, key_way(table, release)) for table in tables for release in table.plan.releases]
    for _, _, way in ways:
        if way.change is not None and way.change.name in policy.steps:
            _written(policy, way.change, way.name_before, places, result)
    for table, release, way in ways:
        if way.column is not None and result.steps:
            _add(table, release, way.column, places, result)
    return result


def _written(policy: Policy, node: StepNode, column: str, places: ResolvedPlaces, result: KeySteps) -> None:
    if node.effect.changes[column] is not Change.PSEUDONYMIZED:
        text = f"step `{node.name}` changes `{column}`, by which the tables belong together"
        help_ = "a key of linked tables is pseudonymized, or dropped"
        fault = Diagnostic("PPF633", text, places.value("steps", node.name, "use"), help=help_)
        result.diagnostics += [] if fault in result.diagnostics else [fault]
        return
    step = KeyStep(node.name, policy.steps[node.name], column)
    if all(step.asks != other.asks for other in result.steps):
        result.steps.append(step)


def _add(table: LinkedTable, release: ReleaseNode, column: str, places: ResolvedPlaces, result: KeySteps) -> None:
    like = result.steps[0]
    if len(result.steps) > 1:
        names = " and ".join(f"`{step.name}`" for step in result.steps)
        text = f"release `{release.name}` has the key `{column}`, and {names} change keys in different ways"
        help_ = "give it a step on the key of its own, or drop the key before it"
        result.diagnostics.append(Diagnostic("PPF633", text, places.key("releases", release.name), help=help_))
        return
    if like.column != column and str(like.written.with_.get("scope", _BY_NAME)) == _BY_NAME:
        text = f"`{like.column}` and `{column}` would not get the same pseudonyms, since they have different names"
        help_ = "say `scope: shared`, or give the scope a name"
        result.diagnostics.append(Diagnostic("PPF633", text, places.value("steps", like.name, "with"), help=help_))
        return
    given = {**like.written.with_, _ATTRIBUTES: [column]}
    step = Step.model_construct(use=like.written.use, input=(_origin(table, release),), with_=given)
    result.added.append(AddedStep(f"{like.name}-{release.name}", like, step, release.name))


def _origin(table: LinkedTable, release: ReleaseNode) -> str:
    """Return what the policy makes the release of: the nearest node that it has itself."""
    return next((node.input for node in table.plan.upstream(release.input) if node.implicit), release.input)


def with_steps(policy: Policy, added: Iterable[AddedStep]) -> Policy:
    """Return the policy of a table with further steps, each right before its release."""
    steps, releases = dict(policy.steps), dict(policy.releases)
    for each in added:
        steps[each.name] = each.step
        releases[each.release] = releases[each.release].model_copy(update={"from_": each.name})
    return policy.model_copy(update={"steps": steps, "releases": releases})


def with_places(places: ResolvedPlaces, added: Iterable[AddedStep]) -> ResolvedPlaces:
    """Return the places with those of the further steps: what each of them is like."""
    keys, values = dict(places.keys), dict(places.values)
    for each in added:
        written = ("steps", each.like.name)
        for spans in (keys, values):
            spans |= {("steps", each.name, *p[2:]): span for p, span in places_of(spans, written)}
    return ResolvedPlaces(keys, values)


def places_of(spans: Mapping[PolicyPath, Span], above: PolicyPath) -> list[tuple[PolicyPath, Span]]:
    """Return the places at and below one."""
    return [(path, span) for path, span in spans.items() if path[: len(above)] == above]


# Requirements of several tables, as far as one table has what they are about.


def restricted(requirements: Iterable[Requirement], table: str) -> tuple[Requirement, ...]:
    """Return what the requirements ask of a table alone, in its own names.

    What is about groups of other tables' attributes alone asks that the table's rows are not told apart by what is in
    these; about other tables' secrets nothing is asked of it.
    """
    every = (_renamed(requirement, lambda name: plain_name(table, name)) for requirement in requirements)
    return tuple(own for own in every if own is not None)


def restricted_to(requirement: Requirement, tables: frozenset[str]) -> Requirement | None:
    """Return what a requirement asks of these tables together; None where that is nothing."""
    return _renamed(requirement, lambda name: name if table_name(name) in tables else None)


def _renamed(requirement: Requirement, name_of: Callable[[str], str | None]) -> Requirement | None:
    own = requirement.renamed(name_of)
    if own is None or own.secrets or own.numbers or own.grouping or not requirement.grouping:
        return own
    of_rows = requirement.of_all_files and not requirement.secrets
    return own if of_rows else None


def tables_of(requirement: Requirement) -> frozenset[str]:
    """Return the tables whose attributes a requirement is about."""
    names = (*requirement.grouping, *requirement.secrets, *requirement.numbers)
    return frozenset(table_name(name) for name in names)


# Which releases of linked tables are read as one, and what is measured on them then.


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
        input=DEFINITION_SOURCE,
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
    """Return the requirements on any of the releases, as requirements on their join."""
    for requirement in requirements:
        if any(requirement.concerns(release.name) for release in releases):
            yield requirement.changed(releases=()) if requirement.releases else requirement


def _released(table: LinkedTable) -> tuple[ReleaseNode, ...]:
    """Return the releases of people's rows that have the key, and those joined to them, directly or through others."""
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


# Attributes of a table under the names that they have among several tables.


def qualified_facts(facts: Iterable[AttributeFacts], table: LinkedTable, subject: str) -> tuple[AttributeFacts, ...]:
    """Return attributes of a table with the names that they have among several.

    Attributes that come from the table's subject come from ``subject`` here: it is the same in every table.
    """

    def name_of(name: str) -> str:
        return subject if name == table.person else qualified(table.name, name)

    return tuple(_fact(fact, table.name, name_of) for fact in facts)


def qualified_source(table: LinkedTable, subject: str) -> tuple[AttributeFacts, ...]:
    """Return the attributes of a table's source, with the person's attribute as ``subject``; no other identifiers."""
    kept = (a for a in table.plan.source.attributes if a.name == table.person or a.role is not Role.IDENTIFIER)
    facts = qualified_facts(kept, table, subject)
    return tuple(replace(f, name=subject) if f.source == subject else f for f in facts)


def _fact(fact: AttributeFacts, table: str, name_of: Rename) -> AttributeFacts:
    lineage = None if fact.derived is None else fact.derived.mapped(name_of)
    return replace(fact, name=qualified(table, fact.name), source=name_of(fact.source or fact.name), derived=lineage)
