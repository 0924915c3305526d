"""Which randomization channels still describe the values of a release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ppdm_flow.plan.definition import Plan, ReleaseNode, StepNode
from ppdm_flow.sdk.anonymizer import Fitted, Operator, SetOperator


@dataclass(frozen=True, slots=True)
class Channel:
    """An operator in force, and the reference (``source``, a step, ``step.output``) whose values went into it."""

    operator: Operator | SetOperator
    reference: str


def channels(plan: Plan, release: ReleaseNode, fitted: Mapping[str, Fitted]) -> Mapping[str, Channel]:
    """Return the channels by released attribute.

    A value that another step changes after it was randomized, or randomizes again, has no known channel any more.
    """
    channel_of: dict[str, Channel] = {}
    for node in plan.upstream(release.input):
        channel_of = _after(node, channel_of, {**fitted[node.name].operators, **fitted[node.name].set_operators})
    released = {a.name for a in release.attributes}
    return {name: channel for name, channel in channel_of.items() if name in released}


def _after(
    node: StepNode, before: Mapping[str, Channel], operators: Mapping[str, Operator | SetOperator]
) -> dict[str, Channel]:
    effect = node.effect
    if effect.rows == "generated":
        return {}
    touched = {*effect.changes, *effect.drops, *operators}
    kept = {effect.renames.get(name, name): c for name, c in before.items() if name not in touched}
    for name, operator in operators.items():
        if name not in before:
            kept[name] = Channel(replace(operator, attribute=name, step=node.name), node.input)
    return kept
