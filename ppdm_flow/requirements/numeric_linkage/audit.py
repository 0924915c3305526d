"""The card of the audit `numeric_linkage`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Effect, FilePath, Params, PluginSpec, Problem, Scope


class NumericLinkageParams(Params):
    """``attributes`` of the source that an intruder knows; a requirement brings its own.

    ``candidates``: how many released rows the intruder may name; ``sample``: the most records that are looked for;
    ``control``: a CSV file of people who are not in the source, relative to the policy.
    """

    attributes: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    candidates: Annotated[int, Field(ge=1, le=1000)] = 1
    sample: Annotated[int, Field(ge=1, le=1_000_000)] = 1000
    control: FilePath | None = None


def _effect(params: NumericLinkageParams, scope: Scope) -> Effect:
    """Complain where the attributes are missing, or the release tells nothing of one."""
    if params.attributes is None:
        text = "`attributes` is missing in the parameters of `numeric_linkage`"
        return Effect(problems=(Problem("PPF202", text, hint="add `with: {attributes: [income, age]}`"),))
    problems = []
    for i, name in enumerate(params.attributes):
        if not any(facts.carries(name) for facts in scope.attributes.values()):
            text = f"the release has nothing that is computed from `{name}`"
            problems.append(Problem("PPF861", text, ("attributes", str(i))))
    return Effect(problems=tuple(problems))


SPEC = PluginSpec(
    info=PluginInfo.of_page("audits/numeric_linkage", Kind.AUDIT, serves=("numeric_linkage",), standalone=True),
    params=NumericLinkageParams,
    algorithm="ppdm_flow.requirements.numeric_linkage.algorithm:NumericLinkageAudit",
    effect=_effect,
)
