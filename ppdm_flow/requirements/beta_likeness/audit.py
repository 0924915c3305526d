"""The card of the audit `beta_likeness`."""

from __future__ import annotations

from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.mining.classes.measures import measures
from ppdm_flow.sdk.spec import Params, PluginSpec


class BetaLikenessParams(Params):
    """It has none: the requirement says it all."""


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "audits/beta_likeness",
        Kind.AUDIT,
        figures=measures,
        serves=("beta_likeness",),
        asks=AccessRequirements(
            DataAccess.COUNTS, {"people": DataAccess.TABLE, "together": DataAccess.TABLE}, passes=2
        ),
    ),
    params=BetaLikenessParams,
    algorithm="ppdm_flow.requirements.beta_likeness.algorithm:BetaLikenessAudit",
)
