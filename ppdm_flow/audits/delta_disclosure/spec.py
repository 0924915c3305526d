"""The card of the audit `delta_disclosure`."""

from __future__ import annotations

from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


class DeltaDisclosureParams(Params):
    """It has none: the requirement says it all."""


SPEC = PluginSpec(
    info=PluginInfo(
        name="delta_disclosure",
        kind=Kind.AUDIT,
        summary="largest |ln| of the ratio of a sensitive value's shares in a class and in the whole release",
        reference="Brickell, Shmatikov, The cost of privacy, KDD 2008",
        serves=("delta_disclosure",),
        cost="one count over quasi-identifiers and sensitive attribute; wildcard: times patterns of missing cells",
    ),
    params=DeltaDisclosureParams,
    algorithm="ppdm_flow.audits.delta_disclosure.algorithm:DeltaDisclosureAudit",
)
