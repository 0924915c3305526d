"""The card of the audit `km_anonymity`."""

from __future__ import annotations

from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


class KmAnonymityParams(Params):
    """It has none: the requirement says it all."""


SPEC = PluginSpec(
    info=PluginInfo(
        name="km_anonymity",
        kind=Kind.AUDIT,
        summary="smallest number of sets that share a combination of at most m items",
        reference="Terrovitis, Mamoulis, Kalnis, Privacy-preserving anonymization of set-valued data, PVLDB 1(1), 2008",
        serves=("km_anonymity",),
        cost="combinations of at most m items within each set",
        sets="column",
    ),
    params=KmAnonymityParams,
    algorithm="ppdm_flow.audits.km_anonymity.algorithm:KmAnonymityAudit",
)
