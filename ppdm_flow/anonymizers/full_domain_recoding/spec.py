"""Full-domain recoding: its card, parameters and effect."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import Field

from ppdm_flow.anonymizers.class_models.people import RecodingTask, claimed, of_subject, subject_read, task
from ppdm_flow.anonymizers.naming import Importance, missing_ones, unknown_importance
from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.attributes import Change
from ppdm_flow.core.lineage import Derivation, value_maps
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.core.roles import Role
from ppdm_flow.sdk.label_words import reading
from ppdm_flow.sdk.spec import Effect, Params, PluginSpec, Problem, Scope

Names = Annotated[tuple[str, ...], Field(min_length=1)]
CostName = Literal["loss", "ncp", "precision", "discernibility", "average_class_size", "entropy", "classification"]


OF_ATTRIBUTES: tuple[CostName, ...] = ("loss", "ncp", "precision", "entropy")
"""Costs that are made of a cost of each attribute; the others are of classes as a whole."""


class LevelBounds(Params):
    """The least and the highest level that an attribute may go to; 0 are its values themselves."""

    min: Annotated[int, Field(ge=0)] = 0
    max: Annotated[int, Field(ge=0)] | None = None


class RecodingParams(Params):
    """Parameters: the attributes to recode (default: those that requirements group by), and limits of the search."""

    attributes: Names | None = None
    suppression: Annotated[float, Field(ge=0.0, le=1.0)] = 0.05
    suppress: Literal["rows", "cells"] = "rows"
    cost: CostName = "loss"
    importance: dict[str, Importance] = Field(default_factory=dict)
    levels: dict[str, LevelBounds] = Field(default_factory=dict)
    most_nodes: Annotated[int, Field(ge=1)] | None = None


def effect(params: RecodingParams, scope: Scope) -> Effect:
    """Generalize; serve what holds of the classes over the recoded attributes."""
    todo = task(params.attributes, scope.requirements, scope.attributes)
    targets = tuple(f.name for f in scope.attributes.values() if f.role is Role.TARGET)
    reads = (
        *todo.attributes,
        *todo.sensitive,
        *(targets if params.cost == "classification" else ()),
        *subject_read(scope),
    )
    return Effect(
        reads=tuple(dict.fromkeys(reads)),
        changes=dict.fromkeys(todo.attributes, Change.GENERALIZED),
        derivations=_derivations(params, todo, reads),
        rows="fewer",
        rows_by=(*todo.attributes, *todo.sensitive),
        serves=tuple(r.id for r in todo.enforced),
        guarantee=_guarantee(todo, scope),
        told=_describe_labels(todo.attributes, scope),
        problems=(
            *_of_task(todo),
            *_of_names(params, scope, todo.attributes),
            *unknown_importance(params.importance, todo.attributes, "are recoded"),
            *_of_cost(params, targets),
            *of_subject(scope),
        ),
    )


def _derivations(params: RecodingParams, todo: RecodingTask, reads: tuple[str, ...]) -> dict[str, Derivation]:
    """Return what cells come from; with ``suppress: cells`` whole classes are hidden."""
    if params.suppress == "rows":
        return value_maps(todo.attributes, reads)
    return value_maps(todo.attributes, reads, todo.attributes, todo.sensitive)


_LEVEL = (
    "Every value was replaced by the coarser one of one level of its hierarchy, the same level in all rows. The level"
    " may be that of the value itself."
)


def _describe_labels(names: Iterable[str], scope: Scope) -> dict[str, str]:
    """Return how recipients read the labels of each attribute."""
    own = {name: scope.attributes[name].hierarchy for name in names if name in scope.attributes}
    return {name: f"{_LEVEL} {reading(h)}" for name, h in own.items() if h is not None and reading(h)}


def _guarantee(todo: RecodingTask, scope: Scope) -> str:
    if scope.people is not None:
        return claimed([r.class_claim.partition(" ")[2] for r in todo.enforced], scope)
    return "; ".join(f"every class {r.class_claim}" for r in todo.enforced)


def _of_task(todo: RecodingTask) -> list[Problem]:
    if todo.enforced and todo.attributes:
        return []
    text = "nothing to recode for: no requirement that concerns this table groups rows"
    if todo.left:
        names = ", ".join(f"`{r.id}`" for r in todo.left)
        text = f"nothing to recode for: the classes over the recoded attributes cannot enforce {names}"
    return [Problem("PPF780", text)]


def _of_names(params: RecodingParams, scope: Scope, recoded: tuple[str, ...]) -> list[Problem]:
    problems = list(missing_ones(params.attributes or (), scope.attributes, ("attributes",)))
    for name, bounds in params.levels.items():
        if name not in recoded:
            problems.append(
                Problem("PPF606", f"`{name}` is none of the attributes that are recoded", ("levels", name), named=True)
            )
        elif bounds.max is not None and bounds.max < bounds.min:
            problems.append(Problem("PPF782", "`max` must not lie below `min`", ("levels", name, "max")))
    return problems


def _of_cost(params: RecodingParams, targets: tuple[str, ...]) -> list[Problem]:
    if params.cost == "classification" and not targets:
        return [Problem("PPF780", "`cost: classification` needs an attribute with the role `target`", ("cost",))]
    if params.importance and params.cost not in OF_ATTRIBUTES:
        text = f"`cost: {params.cost}` is of classes as a whole, in which no attribute is more important than another"
        hint = f"choose one of {', '.join(f'`{name}`' for name in OF_ATTRIBUTES)}"
        return [Problem("PPF782", text, ("importance",), hint)]
    return []


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "anonymizers/full_domain_recoding",
        Kind.ROW_WISE,
        classes="people",
        asks=AccessRequirements(DataAccess.COUNTS, {"people": DataAccess.TABLE}, passes=2),
    ),
    params=RecodingParams,
    algorithm="ppdm_flow.anonymizers.full_domain_recoding.algorithm:FullDomainRecoding",
    effect=effect,
)
