"""Requirements that no table at all can satisfy together."""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.plan.rules.compiled_flow import CompiledFlow
from ppdm_flow.policy.requirements import specs_of


def contradicting_requirements(flow: CompiledFlow) -> Iterator[Diagnostic]:
    """Report what each kind says of its requirements, on the attributes that some release has."""
    released = frozenset(fact.source or fact.name for _, fact in flow.published())
    for spec in specs_of(flow.policy):
        same = tuple(r for r in flow.plan.requirements if r.kind == spec.name)
        if spec.conflicts is not None and same:
            yield from spec.conflicts(same, released, flow.plan.nulls, flow.places)
