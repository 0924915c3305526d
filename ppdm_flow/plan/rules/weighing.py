"""Weights count people: they are no values that a step may change."""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.core.diagnostics import Diagnostic, Related
from ppdm_flow.core.roles import Role
from ppdm_flow.plan.rules.compiled_flow import CompiledFlow


def changed_weights(flow: CompiledFlow) -> Iterator[Diagnostic]:
    """A group of one that is rounded to five would be measured as five people."""
    for step in flow.plan.steps:
        for fact in step.attributes:
            change = next((c for s, c in fact.changes if s == step.name), None)
            if fact.role is Role.WEIGHT and change is not None and step.name in flow.clean:
                declared = flow.declared(fact)
                yield Diagnostic(
                    "PPF563",
                    f"`{fact.source}` holds the weights of rows, and step `{step.name}` leaves it {change}",
                    flow.use(step.name),
                    help="groups would be measured by changed numbers of people: drop it, or leave it as it is",
                    related=(Related(declared, "declared here"),) if declared else (),
                )
