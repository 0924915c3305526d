"""A policy of linked tables: each compiled alone, as a policy of one table is, and all put together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import networkx as nx

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.requirement import Requirement
from ppdm_flow.plan.binding import Binder
from ppdm_flow.plan.covering import on_columns
from ppdm_flow.plan.dag import SOURCE, base
from ppdm_flow.plan.definition import LedgerNode, LinkedTable, Plan, StepNode
from ppdm_flow.plan.facts import facts_of, resolved
from ppdm_flow.plan.gating import dangling, of_steps, redefined, unmeasured
from ppdm_flow.plan.linked.joins import joins_of, unjoined
from ppdm_flow.plan.linked.keys import AddedStep, key_steps, with_places, with_steps
from ppdm_flow.plan.linked.restriction import restricted
from ppdm_flow.plan.names import clashes
from ppdm_flow.plan.table_compiler import TableCompiler
from ppdm_flow.plan.wiring import Wiring, wire
from ppdm_flow.policy import declared_values, gates_of, requirements_of
from ppdm_flow.policy.counting import people_of, subject_attribute
from ppdm_flow.policy.language.models import Policy
from ppdm_flow.policy.linked import plain_name, qualified, subject_table, table_places, table_policy
from ppdm_flow.policy.loaded import PolicyReading, ResolvedPlaces


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
            whole, said = self._table(name, requirements, wiring, roots, added) if added else (table, diagnostics)
            tables.append(whole)
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
        """Return the first input that is of this table: that there are others is a fault already."""
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
