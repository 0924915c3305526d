"""Mondrian: its card, parameters and effect."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from ppdm_flow.anonymizers.class_models.people import claimed, of_subject, subject_read
from ppdm_flow.anonymizers.class_models.task import Task, task
from ppdm_flow.anonymizers.naming import missing_ones
from ppdm_flow.core.asks import Asks, Demand
from ppdm_flow.core.attributes import Change
from ppdm_flow.core.lineage import Derivation
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.core.roles import Role
from ppdm_flow.sdk.spec import Effect, Params, PluginSpec, Problem, Scope

Names = Annotated[tuple[str, ...], Field(min_length=1)]
FormName = Literal["hierarchy", "intervals", "sets"]


class MondrianParams(Params):
    """Which attributes are recoded (default: those that the requirements group by), and how."""

    attributes: Names | None = None
    partitioning: Literal["strict", "relaxed"] = "strict"
    cut: Literal["gain", "median"] = "gain"
    labels: dict[str, FormName] = Field(default_factory=dict)


def todo_of(params: MondrianParams, scope: Scope) -> Task:
    """Return what the classes of a partition can enforce: a population has people whom the table does not hold."""
    requirements = tuple(r for r in scope.requirements if not r.in_population)
    return task(params.attributes, requirements, scope.attributes)


def effect(params: MondrianParams, scope: Scope) -> Effect:
    """Generalize; serve what holds of the classes over the recoded attributes.

    A value has another label in each class, so a label tells of whatever else the classes were cut by. Of what is known
    of somebody beforehand that says nothing new: it chose the label. Of anything else it does.
    """
    todo = todo_of(params, scope)
    held = [r.class_claim.partition(" ")[2] for r in todo.enforced]
    return Effect(
        reads=tuple(dict.fromkeys((*todo.attributes, *todo.sensitive, *subject_read(scope)))),
        changes=dict.fromkeys(todo.attributes, Change.GENERALIZED),
        derivations={n: _derivation(n, params, todo, scope) for n in todo.attributes},
        serves=tuple(r.id for r in todo.enforced),
        guarantee=claimed(held, scope),
        problems=(*_of_task(todo), *_of_names(params, scope, todo.attributes), *of_subject(scope)),
    )


def _derivation(name: str, params: MondrianParams, todo: Task, scope: Scope) -> Derivation:
    others = [n for n in todo.attributes if n != name]
    telling = tuple(n for n in others if not _is_known(n, scope))
    seen = (*others, *todo.sensitive, *subject_read(scope))
    looked_at = tuple(n for n in seen if n not in telling and n != name)
    alone = not others and params.partitioning == "strict"
    return Derivation((name, *telling), looked_at, value_map=alone)


def _is_known(name: str, scope: Scope) -> bool:
    """Whether a column holds a quasi-identifier alone, which no requirement protects."""
    facts = scope.attributes.get(name)
    if facts is None or facts.role is not Role.QUASI_IDENTIFIER:
        return False
    protected = any(facts.source in r.secrets for r in scope.requirements)
    return facts.lineage.computed_from == {facts.source} and not protected


def _of_task(todo: Task) -> list[Problem]:
    if todo.enforced and todo.attributes:
        return []
    text = "nothing to recode for: no requirement that the classes over the recoded attributes can enforce"
    return [Problem("PPF780", text)]


def _of_names(params: MondrianParams, scope: Scope, recoded: tuple[str, ...]) -> list[Problem]:
    problems = list(missing_ones(params.attributes or (), scope.attributes, ("attributes",)))
    for name, form in params.labels.items():
        facts = scope.attributes.get(name)
        if name not in recoded:
            problems.append(
                Problem("PPF781", f"`{name}` is none of the attributes that are recoded", ("labels", name), named=True)
            )
        elif form == "hierarchy" and facts is not None and facts.hierarchy is None:
            problems.append(Problem("PPF780", f"`{name}` has no hierarchy", ("labels", name)))
    return problems


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "anonymizers/mondrian",
        Kind.ROW_WISE,
        classes="rows",
        asks=Demand(Asks.COUNTS, {"people": Asks.TABLE, "partitioning=relaxed": Asks.TABLE}, passes=1),
    ),
    params=MondrianParams,
    algorithm="ppdm_flow.anonymizers.mondrian.algorithm:Mondrian",
    effect=effect,
)
