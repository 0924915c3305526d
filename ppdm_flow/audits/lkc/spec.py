"""The card of the audit `lkc`."""

from __future__ import annotations

from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


class LKCParams(Params):
    """It has none: the requirement says it all."""


SPEC = PluginSpec(
    info=PluginInfo(
        name="lkc",
        kind=Kind.AUDIT,
        summary="smallest group and highest confidence by any few quasi-identifiers together",
        reference="Mohammed, Fung, Hung, Lee, Anonymizing healthcare data, KDD 2009",
        serves=("lkc",),
        cost="distinct rows times combinations of at most L of the quasi-identifiers",
    ),
    params=LKCParams,
    algorithm="ppdm_flow.audits.lkc.algorithm:LKCAudit",
)
