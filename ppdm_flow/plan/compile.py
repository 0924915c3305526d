"""From a policy as it was read to a plan, or to everything that is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ppdm_flow.core.clock import Clock, utc_today
from ppdm_flow.core.diagnostics import Diagnostic, has_errors, in_order
from ppdm_flow.core.digests import digest
from ppdm_flow.core.waivers import Waiver
from ppdm_flow.plan import flow
from ppdm_flow.plan.auditing import audit_nodes
from ppdm_flow.plan.binding import Binder
from ppdm_flow.plan.covering import on_columns
from ppdm_flow.plan.definition import Bound, Plan
from ppdm_flow.plan.document import document
from ppdm_flow.plan.facts import facts_of, resolved
from ppdm_flow.plan.gating import dangling, of_steps, unmeasured
from ppdm_flow.plan.names import clashes, names_of
from ppdm_flow.plan.reading import ledger_node, source_node
from ppdm_flow.plan.releases import pruned, release_nodes
from ppdm_flow.plan.rules import CompiledFlow, violations
from ppdm_flow.plan.steps import Flow, follow
from ppdm_flow.plan.waivers import WaiverCheck, check_waivers
from ppdm_flow.plan.wiring import Wiring, partial_faults, wire
from ppdm_flow.policy import declared_values, gates_of, requirements_of
from ppdm_flow.policy.counting import people_of
from ppdm_flow.policy.language.models import Policy
from ppdm_flow.policy.loaded import Loaded, Places
from ppdm_flow.policy.redaction import redacted, waivers_of


@dataclass(frozen=True, slots=True)
class CompileResult:
    """The outcome: ``plan`` is None where there are errors. ``diagnostics`` include those of the policy itself.

    ``waived`` are those of the diagnostics, all of them warnings, that a waiver covers.
    """

    plan: Plan | None
    diagnostics: tuple[Diagnostic, ...]
    sources: Mapping[str, str]
    waived: Mapping[Diagnostic, Waiver] = field(default_factory=dict)


def compile_policy(
    loaded: Loaded,
    columns: Sequence[str] | None = None,
    data: str | None = None,
    clock: Clock | None = utc_today,
    *,
    digested: bool = True,
) -> CompileResult:
    """Bind plugins, follow attributes through the steps, attach audits, and hold the flow against its rules.

    ``columns`` are the names in the data's header, where they are known: then globs among the declared attributes
    are expanded, and the plan is bound to the data. ``data`` names the file that is read in place of the policy's own.
    ``clock`` tells the day on which waivers are judged; without one they are not.
    Nothing is raised for a bad policy. A plan that nobody will run need not be ``digested``.
    """
    if loaded.policy is None:
        faults = partial_faults(loaded.tree, loaded.places)
        return CompileResult(None, in_order((*loaded.diagnostics, *faults)), loaded.sources)
    plan, faults = _Compiler(loaded, loaded.policy, columns, data).compile()
    every = in_order((*loaded.diagnostics, *(redacted(d, loaded.secrets) for d in faults)))
    checked = _check_waivers(loaded, loaded.policy, plan, every, clock)
    every = in_order((*every, *checked.faults))
    plan = replace(plan, waivers=checked.waivers)
    if digested:
        plan = replace(plan, digest=digest(document(plan)))
    plan = replace(plan, secrets=loaded.secrets - names_of(loaded.policy))
    return CompileResult(None if has_errors(every) else plan, every, loaded.sources, checked.waived)


def _check_waivers(
    loaded: Loaded, policy: Policy, plan: Plan, diagnostics: Sequence[Diagnostic], clock: Clock | None
) -> WaiverCheck:
    """Check the policy's waivers on the day of ``clock``; without a clock they are kept and cover nothing."""
    waivers = waivers_of(policy, loaded)
    if clock is None or not waivers:
        return WaiverCheck(waivers=waivers)
    return check_waivers(
        waivers, plan.gates, diagnostics, loaded.places, loaded.privacy_waivers, clock(), loaded.floors
    )


class _Compiler:
    """The stages of one compilation, with what they share."""

    def __init__(self, loaded: Loaded, policy: Policy, columns: Sequence[str] | None, data: str | None) -> None:
        self.loaded = loaded
        self.data = data
        self.columns = columns
        self.places: Places = loaded.places
        self.home = Path(loaded.file).absolute().parent
        attributes, self.diagnostics = resolved(policy, self.places, columns)
        self.written = policy
        self.policy = policy.model_copy(update={"attributes": attributes}) if attributes else policy
        self.binder = Binder(self.places)

    def compile(self) -> tuple[Plan, list[Diagnostic]]:
        policy = self.policy
        facts = facts_of(policy.attributes, self.places)
        requirements = requirements_of(policy, self.places)
        if self.columns is not None:
            requirements, uncovered = on_columns(requirements, facts)
            self.diagnostics += uncovered
        wiring = self._wiring()
        faulty = has_errors(self.loaded.diagnostics)
        state = Flow(self.places, requirements, policy.nulls, flow.by_name(facts), faulty, people_of(policy))
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
        )
        owners = (*policy.audits, *policy.steps, *steps, *(a.name for a in audits), *(r.id for r in requirements))
        self.diagnostics += [*wiring.diagnostics, *state.diagnostics, *self.binder.diagnostics]
        self.diagnostics += clashes(policy, [a.name for a in audits if a.implicit], self.places)
        self.diagnostics += dangling(gates, owners, policy.releases, self.places)
        self.diagnostics += unmeasured(gates, audits, policy.releases, self.places)
        self.diagnostics += violations(CompiledFlow(plan, policy, self.places, frozenset(state.clean)))
        return plan, self.diagnostics

    def _wiring(self) -> Wiring:
        steps = {name: step.input for name, step in self.policy.steps.items()}
        releases = {name: release.from_ for name, release in self.policy.releases.items()}
        return wire(steps, releases, self.places)

    def _bounds(self) -> dict[str, Bound | None]:
        return {name: self._bound(name, step.use, step.with_) for name, step in self.policy.steps.items()}

    def _bound(self, name: str, use: str, given: Mapping[str, Any]) -> Bound | None:
        path = ("steps", name)
        return self.binder.bind("anonymizers", use, given, (*path, "use"), (*path, "with"))
