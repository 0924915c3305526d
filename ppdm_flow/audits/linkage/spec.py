"""The card of the audit `linkage`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from ppdm_flow.audits.records.attributes import unknown
from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Effect, FilePath, Params, PluginSpec, Problem, Scope


class LinkageParams(Params):
    """``external`` is a CSV file with a header (path relative to the policy), a line for each person that is known."""

    external: FilePath | None = None
    columns: Mapping[str, str] = Field(default_factory=dict)
    identity: str | None = None
    truth: str | None = None
    delimiter: Annotated[str, Field(min_length=1, max_length=1)] = ","
    attributes: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    sensitive: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    sample: Annotated[int, Field(ge=0, le=1_000_000)] = 2000


def effect(params: LinkageParams, scope: Scope) -> Effect:
    """Complain of attributes that the release does not have, and of a file's options without a file."""
    named = {"attributes": params.attributes or (), "sensitive": params.sensitive or ()}
    problems = unknown(named, scope)
    known = {n for a in scope.attributes.values() for n in (a.name, a.source) if n}
    for attribute in params.columns:
        if attribute not in known:
            problems = (
                *problems,
                Problem("PPF861", f"the release has no attribute `{attribute}`", ("columns", attribute)),
            )
    given = {"columns": bool(params.columns), "identity": params.identity, "truth": params.truth}
    for name, value in given.items():
        if value and params.external is None:
            text = f"`{name}:` is about the file of known people, and no `external:` names one"
            problems = (*problems, Problem("PPF782", text, (name,)))
    if params.truth is not None and params.identity is None:
        text = "`truth:` needs `identity:`, the column of the file that says who a person is"
        problems = (*problems, Problem("PPF782", text, ("truth",)))
    return Effect(problems=problems, asks={"truth": params.truth} if params.truth is not None else {})


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "audits/linkage", Kind.AUDIT, asks=AccessRequirements(DataAccess.COUNTS, {"people": DataAccess.TABLE}, passes=2)
    ),
    params=LinkageParams,
    algorithm="ppdm_flow.audits.linkage.algorithm:LinkageAudit",
    effect=effect,
    counts_people=True,
)
