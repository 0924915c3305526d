"""Rough costs of a plan's steps, from rows and columns: for planning, never for judging."""

from __future__ import annotations

from dataclasses import dataclass

from ppdm_flow.core.attributes import AttributeFacts, Change
from ppdm_flow.core.plugin_info import Kind
from ppdm_flow.core.roles import Role
from ppdm_flow.engine.streams.set_counts import SetCounts, SetSize, octets
from ppdm_flow.engine.streams.source import SourceStream
from ppdm_flow.plan.definition import Plan, ReleaseNode, StepNode
from ppdm_flow.sdk.spec import SetShape

_CELLS_A_SECOND = 2.0e8
_DRAWS_A_SECOND = 2.0e7
_SORTED_A_SECOND = 3.0e6


@dataclass(frozen=True, slots=True)
class Cost:
    """``passes`` over the data, and ``seconds`` on one ordinary core, to one significant digit."""

    step: str
    passes: int
    seconds: float


def estimates(plan: Plan, stream: SourceStream) -> tuple[Cost, ...]:
    """Return the cost of each step."""
    return tuple(_of(node, stream.row_count, len(stream.attributes)) for node in plan.steps)


def set_sizes(plan: Plan, sets: tuple[SetCounts, ...]) -> tuple[SetSize, ...]:
    """Return how large the sets of each release will be: in the form that a step gives them, as lists otherwise.

    Steps that drop rows or items make them smaller.
    """
    sizes = []
    for release in plan.releases:
        for fact in release.attributes:
            for counts in sets:
                if fact.role is Role.ITEMS and fact.source == counts.name:
                    shape = SetShape(counts.rows, max(len(counts.alphabet), len(fact.domain or ())), counts.longest)
                    form, size = _stored(plan, release, fact, shape, counts.mean)
                    sizes.append(SetSize(release.name, form, size))
    return tuple(sizes)


def _stored(plan: Plan, release: ReleaseNode, fact: AttributeFacts, shape: SetShape, mean: float) -> tuple[str, int]:
    if fact.was(Change.PERTURBED):
        for step in reversed(plan.upstream(release.input)):
            if step.bound.spec.stores is not None:
                return step.bound.spec.stores(step.bound.params, shape)
        return "bits", octets("bits", shape.rows, shape.distinct, mean)
    return "lists", octets("lists", shape.rows, shape.distinct, mean)


def _of(node: StepNode, rows: int, columns: int) -> Cost:
    kind = node.bound.info.kind
    seconds = rows * columns / _CELLS_A_SECOND
    if node.bound.info.randomized:
        seconds += rows / _DRAWS_A_SECOND
    if kind is Kind.ORDER:
        seconds += rows / _SORTED_A_SECOND
    passes = 1 + bool(node.effect.reads)
    return Cost(node.name, passes, float(f"{seconds * passes:.1g}"))
