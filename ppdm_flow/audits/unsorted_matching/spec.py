"""The card of the audit `unsorted_matching`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from ppdm_flow.audits.records.attributes import unknown
from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Effect, FilePath, Params, PluginSpec, Problem, Scope


class UnsortedMatchingParams(Params):
    """``other`` is a CSV file with a header (path relative to the policy): an earlier release of the same people."""

    other: FilePath | None = None
    columns: Mapping[str, str] = Field(default_factory=dict)
    delimiter: Annotated[str, Field(min_length=1, max_length=1)] = ","
    attributes: Annotated[tuple[str, ...], Field(min_length=1)] | None = None


def effect(params: UnsortedMatchingParams, scope: Scope) -> Effect:
    """Complain of attributes that the release does not have, and of a file's columns without a file."""
    problems = list(unknown({"attributes": params.attributes or ()}, scope))
    known = {n for a in scope.attributes.values() for n in (a.name, a.source) if n}
    problems += [
        Problem("PPF861", f"the release has no attribute `{attribute}`", ("columns", attribute))
        for attribute in params.columns
        if attribute not in known
    ]
    if params.columns and params.other is None:
        text = "`columns:` is about the file of another release, and no `other:` names one"
        problems.append(Problem("PPF782", text, ("columns",)))
    return Effect(problems=tuple(problems))


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "audits/unsorted_matching", Kind.AUDIT, asks=AccessRequirements(DataAccess.TABLE, passes=2)
    ),
    params=UnsortedMatchingParams,
    algorithm="ppdm_flow.audits.unsorted_matching.algorithm:UnsortedMatchingAudit",
    effect=effect,
)
