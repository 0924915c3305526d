"""Origins of a release's values: the data that generators learned from, and randomization that is still in force."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ppdm_flow.core.plugin_info import Kind
from ppdm_flow.core.roles import Role
from ppdm_flow.engine.reading.original import Original
from ppdm_flow.engine.seam import Engine
from ppdm_flow.engine.steps.graph import Graph
from ppdm_flow.engine.streams.stream import Stream
from ppdm_flow.plan.definition import SOURCE, Plan, ReleaseNode, StepNode
from ppdm_flow.sdk.anonymizer import Fitted, ValueOperator
from ppdm_flow.sdk.set_operator import SetOperator
from ppdm_flow.sdk.view import Generation


@dataclass(frozen=True, slots=True)
class OperatorOrigin:
    """An operator in force, and the reference (``source``, a step, ``step.output``) whose values went into it."""

    operator: ValueOperator | SetOperator
    reference: str


def channels(plan: Plan, release: ReleaseNode, fitted: Mapping[str, Fitted]) -> Mapping[str, OperatorOrigin]:
    """Return the channels by released attribute.

    A value that another step changes after it was randomized, or randomizes again, has no known channel any more.
    """
    channel_of: dict[str, OperatorOrigin] = {}
    if (sent := plan.source.operator) is not None:
        channel_of[sent.attribute] = OperatorOrigin(sent, SOURCE)
    for node in plan.upstream(release.input):
        channel_of = _after(node, channel_of, {**fitted[node.name].operators, **fitted[node.name].set_operators})
    released = {a.name for a in release.attributes}
    return {name: channel for name, channel in channel_of.items() if name in released}


def _after(
    node: StepNode, before: Mapping[str, OperatorOrigin], operators: Mapping[str, ValueOperator | SetOperator]
) -> dict[str, OperatorOrigin]:
    effect = node.effect
    if effect.rows == "generated":
        return {}
    touched = {*effect.changes, *effect.drops, *operators}
    kept = {effect.renames.get(name, name): c for name, c in before.items() if name not in touched}
    for name, operator in operators.items():
        if name not in before:
            kept[name] = OperatorOrigin(replace(operator, attribute=name, step=node.name), node.input)
    return kept


def generation(engine: Engine, plan: Plan, graph: Graph, original: Original, release: ReleaseNode) -> Generation | None:
    """Return what the last generator on the way to a release made and read; None where there is none."""
    steps = plan.upstream(release.input)
    places = [i for i, node in enumerate(steps) if node.effect.rows == "generated"]
    if not places:
        return None
    node, before, after = steps[places[-1]], steps[: places[-1]], steps[places[-1] + 1 :]
    read = graph.streams[node.input]
    source: Stream = original.stream
    expanded = graph.expanded(node.input)
    if expanded and original.numbering is not None:
        source = engine.expanded(source, original.numbering)
    weights = [a.name for a in source.attributes if a.role is Role.WEIGHT]
    made = graph.streams[node.name]
    return Generation(
        made=engine.pairs(made, graph.streams[release.input], aligned=_aligned(after)),
        source=engine.pairs(source, read, aligned=_aligned(before)) if len(places) == 1 else None,
        inputs={a.name: a for a in read.attributes},
        outputs={a.name: a for a in made.attributes},
        holdout=graph.fitted[node.name].holdout,
        weight=weights[0] if weights else None,
    )


def _aligned(steps: tuple[StepNode, ...]) -> bool:
    """Whether rows come in ascending order after these steps."""
    return all(n.bound.info.kind is not Kind.TABLE for n in steps)
