"""Rough costs of a plan's steps, from rows and columns: for planning, never for judging."""

from __future__ import annotations

from dataclasses import dataclass

from ppdm_flow.core.plugin_info import Kind
from ppdm_flow.engine.source_stream import SourceStream
from ppdm_flow.plan.definition import Plan, StepNode

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


def _of(node: StepNode, rows: int, columns: int) -> Cost:
    kind = node.bound.info.kind
    seconds = rows * columns / _CELLS_A_SECOND
    if node.bound.info.randomized:
        seconds += rows / _DRAWS_A_SECOND
    if kind is Kind.ORDER:
        seconds += rows / _SORTED_A_SECOND
    passes = 1 + bool(node.effect.reads)
    return Cost(node.name, passes, float(f"{seconds * passes:.1g}"))
