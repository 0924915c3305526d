"""The card of the audit `l_diversity`."""

from __future__ import annotations

from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


class LDiversityParams(Params):
    """It has none: the requirement says it all."""


SPEC = PluginSpec(
    info=PluginInfo(
        name="l_diversity",
        kind=Kind.AUDIT,
        summary="number of well-represented sensitive values in the least diverse class: distinct, entropy, recursive",
        reference="Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam, l-diversity, ACM TKDD 1(1), 2007",
        serves=("l_diversity",),
        cost="one count over quasi-identifiers and sensitive attribute; wildcard: times patterns of missing cells",
    ),
    params=LDiversityParams,
    algorithm="ppdm_flow.audits.l_diversity.algorithm:LDiversityAudit",
)
