"""SPSS sink: its card."""

from __future__ import annotations

from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


class SpssSinkParams(Params):
    """None: the ending of the path says whether the file is compressed."""


SPEC = PluginSpec(
    info=PluginInfo.of_page("sinks/spss", Kind.SINK, typed=True, endings=(".sav", ".zsav")),
    params=SpssSinkParams,
    algorithm="ppdm_flow.sinks.spss.algorithm:SpssSink",
)
