"""The card of the audit `cumulative_k`."""

from __future__ import annotations

from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


class CumulativeKParams(Params):
    """It has none: the requirement and the release ledger say it all."""


SPEC = PluginSpec(
    info=PluginInfo(
        name="cumulative_k",
        kind=Kind.AUDIT,
        summary="intersection and difference attack with all earlier releases: the smallest group of people left",
        reference="Ganta, Kasiviswanathan, Smith, Composition attacks and auxiliary information in data privacy,"
        " KDD 2008; Xiao, Tao, m-Invariance, SIGMOD 2007",
        serves=("cumulative_k",),
        cost="one sort of the people of each earlier release",
    ),
    params=CumulativeKParams,
    algorithm="ppdm_flow.audits.cumulative_k.algorithm:CumulativeKAudit",
)
