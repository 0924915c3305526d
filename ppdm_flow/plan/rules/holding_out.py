"""Rows that a step leaves out of its learning: they are chosen by their numbers in the source."""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.plan.definition import StepNode
from ppdm_flow.plan.rules.compiled_flow import CompiledFlow


def other_rows(flow: CompiledFlow) -> Iterator[Diagnostic]:
    """A step that holds out rows of the source, and reads rows of other numbers."""
    for step in flow.plan.steps:
        before = flow.plan.upstream(step.input)
        cause = next((s for s in before if s.effect.rows == "generated" or s.expands), None)
        if not step.effect.holds_out or cause is None:
            continue
        yield Diagnostic(
            "PPF743",
            f"step `{step.name}` holds out rows of the source, and does not read them: {_why(cause)}",
            flow.places.value("steps", step.name, "with", "holdout") or flow.use(step.name),
            help="take the generator before it, or leave `holdout` out",
        )


def _why(cause: StepNode) -> str:
    if cause.effect.rows == "generated":
        return f"step `{cause.name}` made other ones"
    return f"step `{cause.name}` writes each weighted row out, under numbers of its own"
