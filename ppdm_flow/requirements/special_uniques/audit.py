"""The card of the audit `special_uniques`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.core.suggest import closest
from ppdm_flow.sdk.spec import Effect, Params, PluginSpec, Problem, Scope


class SpecialUniquesParams(Params):
    """A requirement brings its own ``attributes`` and ``size``; the others are for `audits:`."""

    attributes: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    size: Annotated[int, Field(ge=1, le=5)] = 3
    sampling_fraction: Annotated[float, Field(gt=0.0, le=1.0)] = 0.01
    threshold: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.1


def _effect(params: SpecialUniquesParams, scope: Scope) -> Effect:
    """Complain of attributes that the release tells nothing of."""
    every = scope.attributes.values()
    told = {n for a in every for n in (a.name, a.source, *a.lineage.computed_from) if n}
    problems = []
    for i, name in enumerate(params.attributes or ()):
        if name not in told:
            near = closest(name, told)
            hint = f"did you mean `{near}`?" if near else None
            problems.append(Problem("PPF861", f"the release has no attribute `{name}`", ("attributes", str(i)), hint))
    return Effect(problems=tuple(problems))


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "audits/special_uniques",
        Kind.AUDIT,
        serves=("special_uniques",),
        standalone=True,
        asks=AccessRequirements(DataAccess.COUNTS, {"people": DataAccess.TABLE}, passes=2),
    ),
    params=SpecialUniquesParams,
    algorithm="ppdm_flow.requirements.special_uniques.algorithm:SpecialUniquesAudit",
    effect=_effect,
    counts_people=True,
)
