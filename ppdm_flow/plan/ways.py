"""Which steps a released column went through, and the columns that it is computed from."""

from __future__ import annotations

from collections.abc import Mapping

from ppdm_flow.plan.definition import Plan, StepNode

Ways = Mapping[str, tuple[str, ...]]


def ways(plan: Plan, node: str) -> Ways:
    """Return by column the steps that made it what it is at ``node``, oldest first; untouched ones are left out."""
    steps_of: Ways = {}
    for step in plan.upstream(node):
        steps_of = _after(step, steps_of)
    return steps_of


def _after(step: StepNode, before: Ways) -> Ways:
    effect = step.effect
    made = dict(before)
    for name in (*effect.changes, *(fact.name for fact in effect.adds)):
        made[name] = _joined([before.get(n, ()) for n in effect.derivation(name).computed_from], step.name)
    kept = {name: steps for name, steps in made.items() if name not in (*effect.drops, *effect.renames)}
    return kept | {new: (*made.get(old, ()), step.name) for old, new in effect.renames.items()}


def _joined(ways_of: list[tuple[str, ...]], last: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*(step for steps in ways_of for step in steps), last]))
