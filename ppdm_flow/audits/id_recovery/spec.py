"""The card of the audit `id_recovery`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.core.suggest import closest
from ppdm_flow.sdk.spec import Effect, Params, PluginSpec, Problem, Scope


class IdRecoveryParams(Params):
    """``attribute`` are the released codes. ``method`` is how they were made: the attacker knows it."""

    attribute: str = ""
    method: Literal["genetic", "mask"] = "genetic"
    width: Annotated[int, Field(ge=2, le=62)] = 12
    head: Annotated[int, Field(ge=1)] | Literal["random"] = 4
    until: Annotated[int, Field(ge=2)] | Literal["random"] | None = None
    invert: Literal["reverse", "complement"] = "reverse"


def effect(params: IdRecoveryParams, scope: Scope) -> Effect:
    """Complain of codes that this release does not have."""
    problems = []
    if params.attribute not in scope.attributes:
        near = closest(params.attribute, scope.attributes)
        hint = f"did you mean `{near}`?" if near else None
        problems.append(Problem("PPF861", f"the release has no attribute `{params.attribute}`", ("attribute",), hint))
    until = params.until if isinstance(params.until, int) else params.width
    if until > params.width:
        problems.append(Problem("PPF782", "`until` has to be at most `width`", ("until",)))
    elif isinstance(params.head, int) and params.head >= until:
        problems.append(Problem("PPF782", "`head` has to be less than `width` and `until`", ("head",)))
    return Effect(problems=tuple(problems))


SPEC = PluginSpec(
    info=PluginInfo.of_page("audits/id_recovery", Kind.AUDIT, asks=AccessRequirements(DataAccess.TABLE, passes=3)),
    params=IdRecoveryParams,
    algorithm="ppdm_flow.audits.id_recovery.algorithm:IdRecoveryAudit",
    effect=effect,
)
