"""The card of the audit `background_knowledge`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from ppdm_flow.audits.inference.knowledge import InferenceTarget, checked
from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


class BackgroundKnowledgeParams(Params):
    """The attacker can rule out up to ``excludes`` values for a person, whichever they are."""

    excludes: Annotated[int, Field(ge=0, le=1000)] = 1
    attributes: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    sensitive: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    targets: Mapping[str, InferenceTarget] = Field(default_factory=dict)


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "audits/background_knowledge",
        Kind.AUDIT,
        asks=AccessRequirements(DataAccess.COUNTS, {"people": DataAccess.TABLE}, passes=2),
    ),
    params=BackgroundKnowledgeParams,
    algorithm="ppdm_flow.audits.background_knowledge.algorithm:BackgroundKnowledgeAudit",
    effect=checked,
    counts_people=True,
)
