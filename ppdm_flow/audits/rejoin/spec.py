"""The card of the audit `rejoin`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.core.suggest import closest
from ppdm_flow.sdk.spec import Effect, Params, PluginSpec, Problem, Scope


class RejoinParams(Params):
    """``other`` is the release to join with, ``key`` the attribute that both have."""

    other: str = ""
    key: str = "class_id"
    sensitive: Annotated[tuple[str, ...], Field(min_length=1)] | None = None


def effect(params: RejoinParams, scope: Scope) -> Effect:
    """Complain of a key that this release does not have."""
    problems = []
    if not params.other:
        problems.append(Problem("PPF614", "say with which release to join: `other:` is the name of one"))
    if params.key not in scope.attributes:
        near = closest(params.key, scope.attributes)
        hint = f"did you mean `{near}`?" if near else None
        problems.append(Problem("PPF861", f"the release has no attribute `{params.key}` to join by", ("key",), hint))
    return Effect(problems=tuple(problems))


SPEC = PluginSpec(
    info=PluginInfo.of_page("audits/rejoin", Kind.AUDIT, asks=AccessRequirements(DataAccess.TABLE, passes=9)),
    params=RejoinParams,
    algorithm="ppdm_flow.audits.rejoin.algorithm:RejoinAudit",
    effect=effect,
)
