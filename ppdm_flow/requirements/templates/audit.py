"""The card of the audit `templates`."""

from __future__ import annotations

from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


class TemplatesParams(Params):
    """It has none: the requirements say it all."""


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "audits/templates",
        Kind.AUDIT,
        serves=("templates",),
        asks=AccessRequirements(
            DataAccess.COUNTS, {"people": DataAccess.TABLE, "together": DataAccess.TABLE}, passes=4
        ),
    ),
    params=TemplatesParams,
    algorithm="ppdm_flow.requirements.templates.algorithm:TemplatesAudit",
)
