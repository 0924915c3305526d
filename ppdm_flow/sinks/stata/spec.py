"""Stata sink: its card."""

from __future__ import annotations

from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


class StataSinkParams(Params):
    """None."""


SPEC = PluginSpec(
    info=PluginInfo.of_page("sinks/stata", Kind.SINK, typed=True, endings=(".dta",)),
    params=StataSinkParams,
    algorithm="ppdm_flow.sinks.stata.algorithm:StataSink",
)
