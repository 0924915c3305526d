"""Every way to be no plugin."""

from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec

NOTHING = object()
SPEC = PluginSpec(PluginInfo("another_name", Kind.ROW_WISE, "Has another name than its entry point."), Params, "x:Y")
