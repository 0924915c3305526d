"""The card of the audit `attribute_disclosure`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.audits.records.attributes import unknown
from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.core.roles import Role
from ppdm_flow.sdk.spec import Effect, Params, PluginSpec, Problem, Scope


class AttributeDisclosureParams(Params):
    """The attacker knows the attributes ``known`` of a person, and wants each of the attributes ``sensitive``."""

    sensitive: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    known: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    sample: Annotated[int, Field(ge=10, le=1_000_000)] = 20_000
    reference: Annotated[int, Field(ge=10, le=10_000_000)] = 500_000


def effect(params: AttributeDisclosureParams, scope: Scope) -> Effect:
    """Complain of attributes that the release does not have, and of a release without a secret.

    Where nothing in the policy is sensitive there is a warning: a template asks for the attack of tables with and
    without such attributes, and its figure then says that nothing was attacked.
    """
    problems = unknown({"sensitive": params.sensitive or (), "known": params.known or ()}, scope)
    if params.sensitive is None and not any(a.role is Role.SENSITIVE for a in scope.attributes.values()):
        text = "no attribute of the release has the role `sensitive`: say which one to attack with `sensitive:`"
        none = bool(scope.source_roles) and Role.SENSITIVE not in scope.source_roles.values()
        problems = (*problems, Problem("PPF861", text, warning=none))
    return Effect(problems=problems)


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "audits/attribute_disclosure", Kind.AUDIT, asks=AccessRequirements(DataAccess.ROWS, passes=6)
    ),
    params=AttributeDisclosureParams,
    algorithm="ppdm_flow.audits.attribute_disclosure.algorithm:AttributeDisclosureAudit",
    effect=effect,
    counts_people=True,
)
