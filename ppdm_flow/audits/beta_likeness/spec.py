"""The card of the audit `beta_likeness`."""

from __future__ import annotations

from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


class BetaLikenessParams(Params):
    """It has none: the requirement says it all."""


SPEC = PluginSpec(
    info=PluginInfo(
        name="beta_likeness",
        kind=Kind.AUDIT,
        summary="largest relative gain of a sensitive value's share in a class over its share in the whole release",
        reference="Cao, Karras, Publishing microdata with a robust privacy guarantee, PVLDB 5(11), 2012",
        serves=("beta_likeness",),
        cost="one count over quasi-identifiers and sensitive attribute; wildcard: times patterns of missing cells",
    ),
    params=BetaLikenessParams,
    algorithm="ppdm_flow.audits.beta_likeness.algorithm:BetaLikenessAudit",
)
