"""The card of the audit `information_kept`."""

from __future__ import annotations

from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


class InformationKeptParams(Params):
    """There is nothing to choose: one figure that all releases can be compared by."""


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "audits/information_kept",
        Kind.AUDIT,
        asks=AccessRequirements(
            DataAccess.COUNTS,
            {"numbers": DataAccess.ROWS, "sets": DataAccess.ROWS, "weights": DataAccess.ROWS},
            passes=2,
            passes_each=2,
        ),
    ),
    params=InformationKeptParams,
    algorithm="ppdm_flow.audits.information_kept.algorithm:InformationKeptAudit",
)
