"""The card of the audit `t_closeness`."""

from __future__ import annotations

from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


class TClosenessParams(Params):
    """It has none: the requirement says it all."""


SPEC = PluginSpec(
    info=PluginInfo(
        name="t_closeness",
        kind=Kind.AUDIT,
        summary="largest earth mover's distance between the sensitive values of a class and of the whole release",
        reference="Li, Li, Venkatasubramanian, t-closeness, ICDE 2007",
        serves=("t_closeness",),
        cost="one count over quasi-identifiers and sensitive attribute; wildcard: times patterns of missing cells",
    ),
    params=TClosenessParams,
    algorithm="ppdm_flow.audits.t_closeness.algorithm:TClosenessAudit",
)
