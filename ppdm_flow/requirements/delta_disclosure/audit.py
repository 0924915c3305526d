"""The card of the audit `delta_disclosure`."""

from __future__ import annotations

from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.mining.classes.measures import measures
from ppdm_flow.sdk.spec import Params, PluginSpec


class DeltaDisclosureParams(Params):
    """It has none: the requirement says it all."""


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "audits/delta_disclosure",
        Kind.AUDIT,
        figures=measures,
        serves=("delta_disclosure",),
        asks=AccessRequirements(
            DataAccess.COUNTS, {"people": DataAccess.TABLE, "together": DataAccess.TABLE}, passes=2
        ),
    ),
    params=DeltaDisclosureParams,
    algorithm="ppdm_flow.requirements.delta_disclosure.algorithm:DeltaDisclosureAudit",
)
