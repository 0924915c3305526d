"""Microaggregation: its card, parameters and effect."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from ppdm_flow.anonymizers.class_models.people import MORE, of_subject, subject_read
from ppdm_flow.anonymizers.naming import carried, missing_ones, problems_of_strata
from ppdm_flow.anonymizers.numeric_attributes import present
from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.attributes import AttributeFacts, Change
from ppdm_flow.core.lineage import CellKind, Derivation
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.core.roles import AttributeType
from ppdm_flow.requirements.k_anonymity.requirement import KAnonymity
from ppdm_flow.sdk.spec import Effect, Params, PluginSpec, Problem, Scope

Names = Annotated[tuple[str, ...], Field(min_length=1)]
NUMERIC = (AttributeType.INTEGER, AttributeType.FLOAT)


class MicroaggregationParams(Params):
    """Parameters: the attributes that are averaged over groups of rows, and the method.

    Default: those that k-anonymity groups by and that are not in ``within``.
    """

    attributes: Names | None = None
    within: tuple[str, ...] = ()
    k: Annotated[int, Field(ge=2)] | None = None
    release: Literal["mean", "median"] = "mean"
    apart: bool = False
    most: Annotated[int, Field(ge=100)] = 20_000


def chosen(params: MicroaggregationParams, scope: Scope) -> tuple[tuple[str, ...], int | None]:
    """Return the attributes and k."""
    requirements = carried(KAnonymity, scope.requirements, scope.attributes)
    grouping = dict.fromkeys(a for r in requirements for a in r.attributes)
    names = params.attributes or tuple(a for a in grouping if a not in params.within)
    return names, params.k or max((r.k for r in requirements), default=None)


def served(params: MicroaggregationParams, scope: Scope) -> tuple[KAnonymity, ...]:
    """Return what the groups enforce: k-anonymity over no other attributes, by groups that are the same for all."""
    names, k = chosen(params, scope)
    if k is None or (params.apart and len(names) > 1):
        return ()
    requirements = carried(KAnonymity, scope.requirements, scope.attributes)
    return tuple(r for r in requirements if r.attributes and set(r.attributes) <= {*names, *params.within} and r.k <= k)


def effect(params: MicroaggregationParams, scope: Scope) -> Effect:
    """Replace values by those of groups."""
    names, k = chosen(params, scope)
    served_requirements = served(params, scope)
    counted = subject_read(scope)
    within = present(params.within, scope)
    return Effect(
        reads=tuple(dict.fromkeys((*names, *within, *counted))),
        changes=dict.fromkeys(names, Change.OTHER),
        numbers=tuple(n for n in names if n in scope.attributes and scope.attributes[n].is_numeric),
        derivations=_derivations(params, names, within, counted),
        serves=tuple(r.id for r in served_requirements),
        guarantee=_guarantee(names, k, scope) if served_requirements else "",
        problems=(*_of_names(params, scope, names), *_of_k(k), *of_subject(scope)),
    )


def _derivations(
    params: MicroaggregationParams, names: tuple[str, ...], within: tuple[str, ...], counted: tuple[str, ...]
) -> dict[str, Derivation]:
    """Return what cells come from: a value goes by its stratum. Whose rows there are chose the groups, no more."""
    if params.apart:
        return {n: Derivation((n, *within), chosen_by=counted, kind=CellKind.AVERAGED) for n in names}
    return dict.fromkeys(names, Derivation((*names, *within), chosen_by=counted, kind=CellKind.AVERAGED))


def _guarantee(names: tuple[str, ...], k: int | None, scope: Scope) -> str:
    text = f"equal values over {', '.join(names)} in groups of at least {k}"
    return f"{text} rows" if scope.people is None else f"{text} people{MORE}"


def _of_names(params: MicroaggregationParams, scope: Scope, names: tuple[str, ...]) -> list[Problem]:
    if not names:
        return [Problem("PPF780", "nothing to average: no `attributes`, and no k-anonymity that groups by any")]
    return [
        *missing_ones(params.attributes or (), scope.attributes, ("attributes",)),
        *problems_of_strata(params.within, names, scope.attributes),
    ]


def _of_k(k: int | None) -> list[Problem]:
    return (
        [Problem("PPF780", "no `k`: neither the step nor k-anonymity says how large groups are")] if k is None else []
    )


def kind_of(facts: AttributeFacts | None) -> Literal["number", "time", "order", "text"]:
    """Return how values of an attribute are compared and what a group of them becomes."""
    if facts is None:
        return "text"
    if facts.type in NUMERIC:
        return "number"
    if facts.hierarchy is not None and facts.hierarchy.order:
        return "order"
    return "time" if facts.is_numeric else "text"


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "anonymizers/microaggregation",
        Kind.ROW_WISE,
        serves=("k_anonymity",),
        asks=AccessRequirements(DataAccess.COUNTS, {"people": DataAccess.TABLE}, passes=1),
    ),
    params=MicroaggregationParams,
    algorithm="ppdm_flow.anonymizers.microaggregation.algorithm:Microaggregation",
    effect=effect,
)
