"""Stata source: its card and parameters."""

from __future__ import annotations

from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec
from ppdm_flow.sources.text_options import Encoding
from ppdm_flow.sources.value_labels import Labels


class StataSourceParams(Params):
    """Whether labelled codes are read as their labels, and the encoding of files before Stata 14."""

    labels: Labels = "values"
    encoding: Encoding | None = None


SPEC = PluginSpec(
    info=PluginInfo.of_page("sources/stata", Kind.SOURCE, endings=(".dta",), typed=True),
    params=StataSourceParams,
    algorithm="ppdm_flow.sources.stata.algorithm:StataSource",
)
