"""What reaches each place of the plan, and through which steps: attributes followed through the effects of steps."""

from __future__ import annotations

from collections import ChainMap, Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from ppdm_flow.core.attributes import AttributeFacts, Change
from ppdm_flow.core.lineage import CellKind, Derivation, Lineage
from ppdm_flow.core.roles import Role
from ppdm_flow.core.suggest import did_you_mean
from ppdm_flow.plan.dag import base
from ppdm_flow.plan.definition import Plan, StepNode
from ppdm_flow.plan.facts import Attributes
from ppdm_flow.sdk.spec import Effect


@dataclass(frozen=True, slots=True)
class Misfit:
    """An effect that does not fit the attributes that reach the step."""

    code: str
    message: str
    hint: str | None = None
    attribute: str = ""


def by_name(facts: Iterable[AttributeFacts]) -> Attributes:
    """Return facts as an ordered map."""
    return Attributes({fact.name: fact for fact in facts})


def together(inputs: Iterable[Attributes]) -> Attributes:
    """Return the attributes of several inputs; of a name that several have, those of the first."""
    attributes = Attributes()
    for each in inputs:
        for name, fact in each.items():
            attributes.setdefault(name, fact)
    return attributes


def misfits(step: str, before: Attributes, effect: Effect) -> list[Misfit]:
    """Return what ``effect`` asks of attributes that are not there, and names that it would give twice."""
    needed = dict.fromkeys((*effect.reads, *effect.changes, *effect.drops, *effect.renames))
    result = []
    for name in needed:
        if name not in before:
            hint = did_you_mean(name, before)
            result.append(Misfit("PPF606", f"step `{step}` needs `{name}`, which does not reach it", hint, name))
    after = [effect.renames.get(name, name) for name in before if name not in effect.drops]
    names = [*after, *(fact.name for fact in effect.adds)]
    twice = [name for name, count in Counter(names).items() if count > 1]
    return [*result, *(Misfit("PPF607", f"after step `{step}` two attributes would be named `{n}`") for n in twice)]


def after(step: str, before: Attributes, effect: Effect) -> Attributes:
    """Return the attributes that leave ``step``."""
    attributes = _materialized(before, (*effect.changes, *effect.drops, *effect.renames))
    for name, change in effect.changes.items():
        if name in attributes:
            derivation = effect.derivation(name)
            derived = lineage_of(derivation, before)
            if derivation.moved:
                derived = replace(derived, moved_by=derived.moved_by | {step})
            changed = attributes[name].changed(step, change)
            labels = changed.labels or (changed.type.is_numeric and name not in effect.numbers)
            recoded = _recoded(attributes[name], change, effect.recodes.get(name), derivation.kind)
            attributes[name] = replace(changed, derived=derived, labels=labels, recoded=recoded)
    for name in effect.drops:
        attributes.pop(name, None)
    renamed = {effect.renames.get(name, name): fact for name, fact in attributes.items()}
    out = Attributes({name: fact if fact.name == name else replace(fact, name=name) for name, fact in renamed.items()})
    for fact in effect.adds:
        out[fact.name] = replace(fact, derived=lineage_of(effect.derivation(fact.name), before))
    return out


def _recoded(
    before: AttributeFacts, change: Change, recodes: Mapping[str, str] | None, kind: CellKind
) -> tuple[tuple[str, str], ...]:
    """Return values of the source with the cells that they are after a step, as the policy writes them down."""
    if change is Change.SUPPRESSED or kind is CellKind.EXCHANGED:
        return before.recoded
    kept = before.recoded or all(each is Change.SUPPRESSED for _, each in before.changes)
    if recodes is None or not kept:
        return ()
    earlier = {value: recodes.get(cell, cell) for value, cell in before.recoded}
    return tuple({**recodes, **earlier}.items())


def lineage_of(derivation: Derivation, before: Attributes) -> Lineage:
    """Return what a column comes from in the source, from the attributes that reach the step which makes it."""
    of = derivation
    named = {*of.computed_from, *of.chosen_by, *(of.carries or ()), *of.hidden_by, *of.hidden_for, *of.within}
    return derivation.lineage({name: before[name].lineage for name in named if name in before})


def without_role(facts: Attributes, role: Role) -> Attributes:
    """Return the attributes that do not have ``role``."""
    return Attributes({name: fact for name, fact in facts.items() if fact.role is not role})


def output_of(effect: Effect, facts: Attributes, output: str) -> Attributes | None:
    """Return the attributes of one output of a step (``""``: its own), or None where it has no such output."""
    if not effect.outputs:
        return facts if output == "" else None
    names = effect.outputs.get(output)
    return None if names is None else Attributes({name: facts[name] for name in names if name in facts})


def untouched(fact: AttributeFacts) -> bool:
    """Whether the attribute still has its own values under its own name."""
    return not fact.changes and fact.name == fact.source


def _materialized(facts: Attributes, names: Iterable[str]) -> Attributes:
    """Give names that only a glob covers a place of their own."""
    attributes = Attributes(facts)
    own = frozenset(facts)
    for name in names:
        if name not in own and name in facts:
            attributes[name] = facts[name]
    return attributes


Ways = Mapping[str, tuple[str, ...]]


def ways(plan: Plan, node: str) -> Ways:
    """Return by column the steps that made it what it is at ``node``, oldest first; untouched ones are left out."""
    passed: dict[str, Ways] = {}
    for step in plan.upstream(node):
        before = ChainMap(*(dict(passed.get(base(reference), {})) for reference in step.inputs))
        passed[step.name] = _after(step, before)
    return passed.get(base(node), {})


def _after(step: StepNode, before: Ways) -> Ways:
    effect = step.effect
    made = dict(before)
    for name in (*effect.changes, *(fact.name for fact in effect.adds)):
        made[name] = _joined([before.get(n, ()) for n in effect.derivation(name).computed_from], step.name)
    kept = {name: steps for name, steps in made.items() if name not in (*effect.drops, *effect.renames)}
    return kept | {new: (*made.get(old, ()), step.name) for old, new in effect.renames.items()}


def _joined(ways_of: list[tuple[str, ...]], last: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*(step for steps in ways_of for step in steps), last]))
