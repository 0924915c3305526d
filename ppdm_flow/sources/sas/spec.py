"""SAS source: its card and parameter."""

from __future__ import annotations

from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec
from ppdm_flow.sources.text_options import Encoding


class SasParams(Params):
    """The encoding of a file that names none, or a wrong one."""

    encoding: Encoding | None = None


SPEC = PluginSpec(
    info=PluginInfo.of_page("sources/sas", Kind.SOURCE, endings=(".sas7bdat", ".xpt"), typed=True),
    params=SasParams,
    algorithm="ppdm_flow.sources.sas.algorithm:SasSource",
)
