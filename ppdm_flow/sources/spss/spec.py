"""SPSS source: its card and parameters."""

from __future__ import annotations

from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec
from ppdm_flow.sources.text_options import Encoding
from ppdm_flow.sources.value_labels import Labels


class SpssSourceParams(Params):
    """Whether labelled codes are read as their labels, and the encoding of a file that names none, or a wrong one."""

    labels: Labels = "values"
    encoding: Encoding | None = None


SPEC = PluginSpec(
    info=PluginInfo.of_page("sources/spss", Kind.SOURCE, endings=(".sav", ".zsav", ".por"), typed=True),
    params=SpssSourceParams,
    algorithm="ppdm_flow.sources.spss.algorithm:SpssSource",
)
