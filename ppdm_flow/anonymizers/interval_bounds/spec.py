"""Interval bounds: its card, parameters and effect."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from pydantic import Field

from ppdm_flow.anonymizers.naming import missing_ones
from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.attributes import AttributeFacts, Change
from ppdm_flow.core.lineage import Derivation
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.core.roles import AttributeType
from ppdm_flow.sdk.spec import Effect, Params, PluginSpec, Problem, Scope

ENDS = ("_low", "_high")
"""What the names of the two columns end with."""


class IntervalBoundsParams(Params):
    """Parameters: the attributes; left out, all that hold labels of numbers or dates."""

    attributes: Annotated[tuple[str, ...], Field(min_length=1)] | None = None


def chosen(params: IntervalBoundsParams, attributes: dict[str, AttributeFacts]) -> tuple[str, ...]:
    """Return the attributes whose labels become bounds."""
    if params.attributes is not None:
        return tuple(name for name in params.attributes if name in attributes)
    return tuple(name for name, facts in attributes.items() if _has_labels(facts))


def _has_labels(facts: AttributeFacts) -> bool:
    return facts.type.is_numeric and facts.labels and facts.was(Change.GENERALIZED, Change.SUPPRESSED)


def effect(params: IntervalBoundsParams, scope: Scope) -> Effect:
    """Replace a column of labels by two of numbers."""
    attributes = dict(scope.attributes)
    names = chosen(params, attributes)
    problems = list(missing_ones(params.attributes or (), attributes, ("attributes",)))
    for place, name in enumerate(names):
        if not attributes[name].type.is_numeric:
            text = f"`{name}` is of `type: {AttributeType.TEXT}`: bounds are numbers, dates or timestamps"
            problems.append(Problem("PPF780", text, ("attributes", str(place))))
    if not names and not problems:
        problems.append(Problem("PPF780", "no attribute that reaches this step has labels of numbers or dates"))
    return Effect(
        reads=names,
        drops=names,
        adds=tuple(_bound(attributes[name], end) for name in names for end in ENDS),
        derivations={f"{name}{end}": Derivation((name,), value_map=True) for name in names for end in ENDS},
        guarantee="the two bounds tell what the label told",
        problems=tuple(problems),
    )


def _bound(facts: AttributeFacts, end: str) -> AttributeFacts:
    return replace(facts, name=f"{facts.name}{end}", labels=False, domain=None, hierarchy=None, derived=None)


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "anonymizers/interval_bounds", Kind.ROW_WISE, asks=AccessRequirements(DataAccess.COUNTS, passes=1)
    ),
    params=IntervalBoundsParams,
    algorithm="ppdm_flow.anonymizers.interval_bounds.algorithm:IntervalBounds",
    effect=effect,
)
