"""The card of the audit `k_anonymity`."""

from __future__ import annotations

from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


class KAnonymityParams(Params):
    """It has none: the requirement says it all."""


SPEC = PluginSpec(
    info=PluginInfo(
        name="k_anonymity",
        kind=Kind.AUDIT,
        summary="size of the smallest equivalence class over the quasi-identifiers, under all three null semantics",
        reference="Samarati, Protecting respondents' identities in microdata release, TKDE 13(6), 2001",
        serves=("k_anonymity",),
        cost="one count over the quasi-identifiers; wildcard: distinct combinations times patterns of missing cells",
    ),
    params=KAnonymityParams,
    algorithm="ppdm_flow.audits.k_anonymity.algorithm:KAnonymityAudit",
)
