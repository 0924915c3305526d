"""The card of the audit `l_diversity`."""

from __future__ import annotations

from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.mining.classes.measures import measures
from ppdm_flow.sdk.spec import Params, PluginSpec


class LDiversityParams(Params):
    """It has none: the requirement says it all."""


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "audits/l_diversity",
        Kind.AUDIT,
        figures=measures,
        serves=("l_diversity",),
        asks=AccessRequirements(
            DataAccess.COUNTS, {"people": DataAccess.TABLE, "together": DataAccess.TABLE}, passes=2
        ),
    ),
    params=LDiversityParams,
    algorithm="ppdm_flow.requirements.l_diversity.algorithm:LDiversityAudit",
)
