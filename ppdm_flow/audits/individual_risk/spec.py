"""The card of the audit `individual_risk`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from ppdm_flow.audits.records.attributes import chosen_attributes
from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.core.roles import Role
from ppdm_flow.sdk.spec import Effect, Params, PluginSpec, Problem, Scope

CODE = "PPF841"
"""Nothing, or two things, say how large the population is."""


class IndividualRiskParams(Params):
    """``threshold``: a respondent whose risk is above it is at risk."""

    threshold: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.1
    attributes: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    sampling_fraction: Annotated[float, Field(gt=0.0, le=1.0)] | None = None
    model: Literal["main_effects", "two_way", "fitting"] = "fitting"


def effect(params: IndividualRiskParams, scope: Scope) -> Effect:
    """Complain of attributes that the release does not have, and where the size of the population is not said once."""
    return Effect(problems=(*chosen_attributes(params, scope).problems, *_population(params, scope)))


def _population(params: IndividualRiskParams, scope: Scope) -> Iterator[Problem]:
    weighted = Role.SAMPLING_WEIGHT in scope.source_roles.values()
    if scope.source_roles and not weighted and params.sampling_fraction is None:
        text = "nothing says how many people of the population a respondent represents"
        hint = "give the survey weights `role: sampling_weight`, or say `with: {sampling_fraction: …}`"
        yield Problem(CODE, text, hint=hint)
    if weighted and params.sampling_fraction is not None:
        text = "the sampling weights say how large the population is, and so does `sampling_fraction`"
        yield Problem(CODE, text, ("sampling_fraction",), "leave it out")


SPEC = PluginSpec(
    info=PluginInfo.of_page("audits/individual_risk", Kind.AUDIT, asks=AccessRequirements(DataAccess.COUNTS, passes=2)),
    params=IndividualRiskParams,
    algorithm="ppdm_flow.audits.individual_risk.algorithm:IndividualRiskAudit",
    effect=effect,
)
