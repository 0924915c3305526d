"""Apriori anonymization: its card, parameters and effect."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from ppdm_flow.anonymizers.class_models.people import MORE, of_subject, subject_read
from ppdm_flow.anonymizers.naming import carried
from ppdm_flow.anonymizers.set_columns import chosen, problems
from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.attributes import AttributeFacts, Change
from ppdm_flow.core.lineage import value_maps
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.requirements.km_anonymity.requirement import KmAnonymity
from ppdm_flow.sdk.spec import Effect, Params, PluginSpec, Problem, Scope

Way = Literal["roll_up", "leave_out"]


class AprioriAnonymizationParams(Params):
    """By default ``k`` and ``m`` are those of `privacy.km_anonymity` on these sets."""

    k: Annotated[int, Field(ge=2)] | None = None
    m: Annotated[int, Field(ge=1, le=4)] | None = None
    by: Annotated[tuple[Way, ...], Field(min_length=1)] | None = None
    attribute: str | None = None


@dataclass(frozen=True, slots=True)
class ItemsetTarget:
    """Every combination of at most ``m`` items is in at least ``k`` sets; ``enforced`` are requirements that say so."""

    k: int
    m: int
    enforced: tuple[str, ...]


def wanted(params: AprioriAnonymizationParams, name: str, scope: Scope) -> ItemsetTarget | None:
    """Return what the step keeps; None where neither parameters nor requirements say how many sets."""
    facts = scope.attributes.get(name)
    made_of = frozenset[str]() if facts is None else facts.lineage.computed_from
    every = carried(KmAnonymity, scope.requirements, scope.attributes)
    requirements = [r for r in every if r.attribute == name]
    own = {r.id for r in requirements}
    on_sources = (r for r in scope.requirements if isinstance(r, KmAnonymity) and r.id not in own)
    requirements += [r for r in on_sources if r.attribute in made_of]
    k = params.k or max((r.k for r in requirements), default=0)
    if not k:
        return None
    m = params.m or max((r.m for r in requirements), default=KmAnonymity.model_fields["m"].default)
    return ItemsetTarget(k, m, tuple(r.id for r in requirements if r.k <= k and r.m <= m))


def effect(params: AprioriAnonymizationParams, scope: Scope) -> Effect:
    """Replace items by their categories, or leave them out; serve what is asked of combinations of items."""
    name = chosen(params.attribute, scope.attributes)
    if name is None:
        return Effect(problems=problems(params.attribute, scope.attributes))
    todo = wanted(params, name, scope)
    rolls_up = can_roll_up(params, scope.attributes[name])
    people = subject_read(scope)
    return Effect(
        reads=(name, *people),
        changes={name: Change.GENERALIZED if rolls_up else Change.SUPPRESSED},
        derivations=value_maps((name,), people),
        serves=todo.enforced if todo else (),
        guarantee=_guarantee(todo, scope),
        problems=(*_problems(params, name, todo, rolls_up), *of_subject(scope)),
    )


def _guarantee(todo: ItemsetTarget | None, scope: Scope) -> str:
    if todo is None:
        return ""
    items = f"every combination of at most {counted(todo.m, 'item')} is in"
    if scope.people is None:
        return f"{items} {todo.k:,} sets or more"
    return f"{items} sets of {todo.k:,} people or more{MORE}"


def can_roll_up(params: AprioriAnonymizationParams, facts: AttributeFacts) -> bool:
    """Whether items may become categories."""
    return facts.hierarchy is not None and (params.by is None or "roll_up" in params.by)


def _problems(
    params: AprioriAnonymizationParams, name: str, todo: ItemsetTarget | None, rolls_up: bool
) -> list[Problem]:
    step_problems = []
    if todo is None:
        text = f"nothing says in how many sets items are to be: there is no `privacy.km_anonymity` on `{name}`"
        step_problems.append(Problem("PPF780", text, hint="add the requirement, or give `k` and `m`"))
    if params.by is not None and "roll_up" in params.by and not rolls_up:
        text = f"`{name}` has no hierarchy, so its items cannot be rolled up"
        step_problems.append(Problem("PPF780", text, ("by",), hint="give the attribute a hierarchy, or leave `by` out"))
    return step_problems


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "anonymizers/apriori_anonymization",
        Kind.ROW_WISE,
        serves=("km_anonymity",),
        sets="column",
        asks=AccessRequirements(DataAccess.TABLE, passes=1),
    ),
    params=AprioriAnonymizationParams,
    algorithm="ppdm_flow.anonymizers.apriori_anonymization.algorithm:AprioriAnonymization",
    effect=effect,
)
