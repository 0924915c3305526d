"""The card of the audit `krimp_dissimilarity`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Literal

from pydantic import Field

from ppdm_flow.audits.records.attributes import named_attributes
from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.core.roles import Role
from ppdm_flow.core.supports import SupportBound, Supported
from ppdm_flow.sdk.spec import Effect, Params, PluginSpec, Problem, Scope


class KrimpDissimilarityParams(Params):
    """Parameters: the search for code tables, and the rows that it uses."""

    candidates: Literal["slim", "all", "closed"] = "slim"
    min_support: Supported = SupportBound(count=2)
    pruning: bool = False
    laplace: Annotated[float, Field(gt=0.0, le=1000.0)] = 1.0
    repeats: Annotated[int, Field(ge=0, le=100)] = 5
    yardstick: Literal["halves", "classes"] = "halves"
    target: str | None = None
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 0
    attributes: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    sample: Annotated[int, Field(ge=10, le=10_000_000)] | None = None


def target_of(roles: Mapping[str, Role]) -> str | None:
    """Return the one attribute with ``role: target``; None where there is none, or more than one."""
    targets = [name for name, role in roles.items() if role is Role.TARGET]
    return targets[0] if len(targets) == 1 else None


def effect(params: KrimpDissimilarityParams, scope: Scope) -> Effect:
    """Read the attributes that are named, and the class where classes are compared."""
    named = named_attributes(params, scope)
    if params.yardstick == "halves":
        text = "`target` is the class of `yardstick: classes`, which is not asked for"
        problems = () if params.target is None else (Problem("PPF782", text, ("target",)),)
        return replace(named, problems=(*named.problems, *problems))
    if params.target is not None:
        return replace(named, asks={"target": params.target})
    if target_of(scope.source_roles) is not None:
        return named
    text = "no attribute, or more than one, has `role: target`: which are the classes?"
    return replace(named, problems=(*named.problems, Problem("PPF782", text, ("yardstick",), "name it: `target: …`")))


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "audits/krimp_dissimilarity", Kind.AUDIT, asks=AccessRequirements(DataAccess.COUNTS, passes=1)
    ),
    params=KrimpDissimilarityParams,
    algorithm="ppdm_flow.audits.krimp_dissimilarity.algorithm:KrimpDissimilarityAudit",
    effect=effect,
)
