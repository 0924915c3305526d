"""One table: plugins bound, attributes followed through the steps, audits attached, the flow held against its rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.diagnostics import Diagnostic, has_errors
from ppdm_flow.core.requirement import Requirement
from ppdm_flow.plan import flow
from ppdm_flow.plan.auditing import audit_nodes
from ppdm_flow.plan.binding import Binder
from ppdm_flow.plan.covering import on_columns
from ppdm_flow.plan.definition import ConfiguredPlugin, Plan
from ppdm_flow.plan.facts import facts_of, resolved
from ppdm_flow.plan.gating import dangling, of_steps, redefined, unmeasured
from ppdm_flow.plan.names import clashes
from ppdm_flow.plan.reading import ledger_node, randomized_by_clients, source_node
from ppdm_flow.plan.releases import pruned, release_nodes
from ppdm_flow.plan.rules import CompiledFlow, violations
from ppdm_flow.plan.steps import StepFlow, follow
from ppdm_flow.plan.wiring import Wiring, wire
from ppdm_flow.policy import declared_values, gates_of, requirements_of
from ppdm_flow.policy.counting import people_of
from ppdm_flow.policy.language.models import Policy
from ppdm_flow.policy.loaded import PolicyReading, ResolvedPlaces


class TableCompiler:
    """The stages of the compilation for one table, with what they share.

    ``requirements`` replace the policy's own, and ``keys`` are attributes that are read even if nothing asks for them.
    """

    def __init__(
        self,
        loaded: PolicyReading,
        policy: Policy,
        columns: Sequence[str] | None,
        data: str | None,
        requirements: tuple[Requirement, ...] | None = None,
        keys: tuple[str, ...] = (),
    ) -> None:
        self.loaded = loaded
        self.given = requirements
        self.keys = keys
        self.data = data
        self.columns = columns
        self.places: ResolvedPlaces = loaded.places
        self.home = Path(loaded.file).absolute().parent
        attributes, self.diagnostics = resolved(policy, self.places, columns)
        self.written = policy
        self.policy = policy.model_copy(update={"attributes": attributes}) if attributes else policy
        self.binder = Binder(self.places)

    def compile(self) -> tuple[Plan, list[Diagnostic]]:
        """Return the plan, without a digest, and everything that is wrong with it."""
        policy = self.policy
        facts = randomized_by_clients(policy, facts_of(policy.attributes, self.places))
        requirements = self._requirements(facts)
        wiring = self._wiring()
        faulty = has_errors(self.loaded.diagnostics)
        state = StepFlow(self.places, requirements, policy.nulls, flow.by_name(facts), faulty, people_of(policy))
        follow(state, self._bounds(), wiring)
        releases = release_nodes(policy, state, wiring, self.binder)
        audits = audit_nodes(policy, releases, requirements, self.binder)
        steps = pruned(state.nodes)
        gates = of_steps(gates_of(policy, self.places), steps)
        source = source_node(self.written, facts, self.home, self.binder, self.data)
        plan = Plan(
            policy=policy.name,
            policy_file=self.loaded.file,
            policy_digest=self.loaded.digest,
            home=str(self.home),
            source=source,
            steps=tuple(steps.values()),
            audits=audits,
            releases=releases,
            requirements=requirements,
            gates=gates,
            nulls=policy.nulls,
            randomness=policy.randomness.mode,
            seed=policy.randomness.seed,
            show_values=policy.report.values == "show",
            declared=declared_values(policy, requirements),
            ledger=ledger_node(policy, self.home),
            recipients=policy.recipients,
            people=people_of(policy),
            keys=self.keys,
        )
        owners = (*policy.audits, *policy.steps, *steps, *(a.name for a in audits), *(r.id for r in requirements))
        self.diagnostics += [*wiring.diagnostics, *state.diagnostics, *self.binder.diagnostics]
        self.diagnostics += clashes(policy, [a.name for a in audits if a.implicit], self.places)
        self.diagnostics += dangling(gates, owners, policy.releases, self.places)
        self.diagnostics += unmeasured(gates, audits, policy.releases, self.places)
        self.diagnostics += redefined(gates, audits, self.places)
        self.diagnostics += violations(CompiledFlow(plan, policy, self.places, frozenset(state.clean)))
        return plan, self.diagnostics

    def _requirements(self, facts: tuple[AttributeFacts, ...]) -> tuple[Requirement, ...]:
        if self.given is not None:
            return self.given
        requirements = requirements_of(self.policy, self.places)
        if self.columns is not None:
            requirements, uncovered = on_columns(requirements, facts)
            self.diagnostics += uncovered
        return requirements

    def _wiring(self) -> Wiring:
        steps = {name: step.input for name, step in self.policy.steps.items()}
        releases = {name: release.from_ for name, release in self.policy.releases.items()}
        return wire(steps, releases, self.places)

    def _bounds(self) -> dict[str, ConfiguredPlugin | None]:
        return {name: self._bound(name, step.use, step.with_) for name, step in self.policy.steps.items()}

    def _bound(self, name: str, use: str, given: Mapping[str, Any]) -> ConfiguredPlugin | None:
        path = ("steps", name)
        return self.binder.bind("anonymizers", use, given, (*path, "use"), (*path, "with"))
