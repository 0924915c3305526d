"""JSON lines source: its card; it has no parameters."""

from __future__ import annotations

from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


class JsonlParams(Params):
    """None."""


SPEC = PluginSpec(
    info=PluginInfo(
        name="jsonl",
        kind=Kind.SOURCE,
        summary="JSON lines: one flat object a line, plain or gzip; numbers keep the digits that the file has.",
        reference="RFC 8259, jsonlines.org",
        cost="two passes, the first for the names",
        endings=(".jsonl", ".jsonl.gz", ".ndjson"),
    ),
    params=JsonlParams,
    algorithm="ppdm_flow.sources.jsonl.algorithm:JsonlSource",
)
