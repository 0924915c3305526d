"""FIMI sink: its card; it has no parameters."""

from __future__ import annotations

from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


class TransactionsSinkParams(Params):
    """None."""


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "sinks/transactions", Kind.SINK, sets="only", endings=(".dat", ".dat.gz", ".fimi", ".fimi.gz")
    ),
    params=TransactionsSinkParams,
    algorithm="ppdm_flow.sinks.transactions.algorithm:TransactionsSink",
)
