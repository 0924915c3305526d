"""The card of the audit `complementary_release`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from ppdm_flow.audits.records.attributes import unknown
from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Effect, FilePath, Params, PluginSpec, Scope


class ComplementaryReleaseParams(Params):
    """``other`` is a CSV file with a header (path relative to the policy): another release about the same people."""

    other: FilePath
    columns: Mapping[str, str] = Field(default_factory=dict)
    delimiter: Annotated[str, Field(min_length=1, max_length=1)] = ","
    attributes: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    sensitive: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    k: Annotated[int, Field(ge=2)] = 5


def effect(params: ComplementaryReleaseParams, scope: Scope) -> Effect:
    """Complain of attributes that the release does not have."""
    return Effect(problems=unknown({"attributes": params.attributes or (), "sensitive": params.sensitive or ()}, scope))


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "audits/complementary_release", Kind.AUDIT, asks=AccessRequirements(DataAccess.ROWS, passes=2)
    ),
    params=ComplementaryReleaseParams,
    algorithm="ppdm_flow.audits.complementary_release.algorithm:ComplementaryReleaseAudit",
    effect=effect,
)
