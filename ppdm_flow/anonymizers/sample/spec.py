"""Sample: its card, parameters and effect."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.anonymizers.naming import matching, missing_ones
from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.attributes import Change
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.core.roles import Role
from ppdm_flow.sdk.spec import Effect, Params, PluginSpec, Problem, Scope


class SampleParams(Params):
    """``fraction``: every row stays with this probability; ``size``: exactly so many rows stay; or ``by`` and ``rows``.

    With ``by``, rows that are equal in these attributes are a group, and ``rows`` of each stay, or all where it has no
    more.
    """

    fraction: Annotated[float, Field(gt=0.0, le=1.0)] | None = None
    size: Annotated[int, Field(ge=1)] | None = None
    by: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    rows: Annotated[int, Field(ge=1)] | None = None


def contradictions(params: SampleParams) -> list[Problem]:
    """Return what cannot be said together."""
    if sum(each is not None for each in (params.fraction, params.size, params.rows)) != 1:
        return [Problem("PPF782", "give either `fraction`, `size`, or `rows` with `by`")]
    if (params.by is None) != (params.rows is None):
        at = ("rows",) if params.by is None else ("by",)
        return [Problem("PPF782", "`by` and `rows` go together: which rows are a group, and how many of it stay", at)]
    return []


def effect(params: SampleParams, scope: Scope) -> Effect:
    """Keep some rows."""
    problems = contradictions(params)
    if params.by is None:
        return Effect(rows="fewer", problems=tuple(problems))
    known = tuple(scope.attributes)
    problems += missing_ones(params.by, known, ("by",))
    if any(facts.role is Role.WEIGHT for facts in scope.attributes.values()):
        problems.append(Problem("PPF782", "a row with a `weight` represents several people", ("by",)))
    for i, pattern in enumerate(params.by):
        for name in matching(pattern, known):
            if name in scope.attributes and scope.attributes[name].was(Change.PERTURBED):
                text = f"`{name}` is perturbed: rows chosen by drawn values are no longer drawn as its operator says"
                problems.append(Problem("PPF783", text, ("by", str(i)), "group by what nothing randomized"))
    reads = tuple(dict.fromkeys(name for pattern in params.by for name in matching(pattern, known)))
    return Effect(
        reads=reads,
        rows="fewer",
        by_others=True,
        guarantee=f"at most {params.rows} of the rows that are equal in {', '.join(f'`{name}`' for name in reads)}",
        problems=tuple(problems),
    )


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "anonymizers/sample",
        Kind.ROW_WISE,
        randomized=True,
        asks=AccessRequirements(
            DataAccess.COUNTS, {"size": DataAccess.TABLE, "by": DataAccess.TABLE}, passes=1, takes_all=("size", "by")
        ),
    ),
    params=SampleParams,
    algorithm="ppdm_flow.anonymizers.sample.algorithm:SampleTransform",
    effect=effect,
)
