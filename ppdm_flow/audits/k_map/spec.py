"""The card of the audit `k_map`."""

from __future__ import annotations

from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


class KMapParams(Params):
    """It has none: the requirement says it all."""


SPEC = PluginSpec(
    info=PluginInfo(
        name="k_map",
        kind=Kind.AUDIT,
        summary="smallest number of people in a population table that fit a class of the release",
        reference="Sweeney, Computational disclosure control, PhD thesis, MIT, 2001",
        serves=("k_map",),
        cost="one count over the quasi-identifiers, one pass over the population",
    ),
    params=KMapParams,
    algorithm="ppdm_flow.audits.k_map.algorithm:KMapAudit",
)
