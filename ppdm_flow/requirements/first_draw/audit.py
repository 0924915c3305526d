"""The card of the audit `first_draw`."""

from __future__ import annotations

from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


class FirstDrawParams(Params):
    """It has none: the requirement and the release ledger say it all."""


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "audits/first_draw", Kind.AUDIT, serves=("first_draw",), asks=AccessRequirements(DataAccess.COUNTS, passes=1)
    ),
    params=FirstDrawParams,
    algorithm="ppdm_flow.requirements.first_draw.algorithm:FirstDrawAudit",
)
