"""The card of the audit `anonymity_score`."""

from __future__ import annotations

from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


class AnonymityScoreParams(Params):
    """It has none: all released attributes that the original has are compared."""


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "audits/anonymity_score",
        Kind.AUDIT,
        serves=("anonymity_score",),
        standalone=True,
        asks=AccessRequirements(DataAccess.TABLE, passes=6),
    ),
    params=AnonymityScoreParams,
    algorithm="ppdm_flow.requirements.anonymity_score.algorithm:AnonymityScoreAudit",
)
