"""The card of the audit `numeric_linkage`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Effect, FilePath, Params, PluginSpec, Problem, Scope


class NumericLinkageParams(Params):
    """``attributes`` of the source that an intruder knows; a requirement brings its own.

    ``candidates``: how many released rows the intruder may name; ``sample``: the most records that are looked for;
    ``control``: a CSV file of people who are not in the source, ``against``: one of people whom the intruder knows,
    both relative to the policy; ``key``: the attribute and column that says which row is whose.
    """

    attributes: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    candidates: Annotated[int, Field(ge=1, le=1000)] = 1
    sample: Annotated[int, Field(ge=1, le=1_000_000)] = 1000
    control: FilePath | None = None
    against: FilePath | None = None
    key: str | None = None


def _effect(params: NumericLinkageParams, scope: Scope) -> Effect:
    """Complain where the attributes are missing, or the release tells nothing of one."""
    if params.attributes is None:
        text = "`attributes` is missing in the parameters of `numeric_linkage`"
        return Effect(problems=(Problem("PPF202", text, hint="add `with: {attributes: [income, age]}`"),))
    problems = []
    if (params.against is None) != (params.key is None):
        hint = "the file says by `key`, an attribute of the source and a column of the file, which row is whose"
        problems.append(
            Problem(
                "PPF202",
                "`against` and `key` go together",
                ("key" if params.against is None else "against",),
                hint=hint,
            )
        )
    for i, name in enumerate(params.attributes):
        if not any(facts.carries(name) for facts in scope.attributes.values()):
            text = f"the release has nothing that is computed from `{name}`"
            problems.append(Problem("PPF861", text, ("attributes", str(i))))
    return Effect(problems=tuple(problems), asks={"key": params.key} if params.key is not None else {})


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "audits/numeric_linkage",
        Kind.AUDIT,
        serves=("numeric_linkage",),
        standalone=True,
        asks=AccessRequirements(DataAccess.TABLE, passes=10),
    ),
    params=NumericLinkageParams,
    algorithm="ppdm_flow.requirements.numeric_linkage.algorithm:NumericLinkageAudit",
    effect=_effect,
)
