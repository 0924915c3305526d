"""JSON lines source: its card; it has no parameters."""

from __future__ import annotations

from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


class JsonlParams(Params):
    """None."""


SPEC = PluginSpec(
    info=PluginInfo.of_page("sources/jsonl", Kind.SOURCE, endings=(".jsonl", ".jsonl.gz", ".ndjson")),
    params=JsonlParams,
    algorithm="ppdm_flow.sources.jsonl.algorithm:JsonlSource",
)
