"""FIMI source: its card and parameters."""

from __future__ import annotations

from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec
from ppdm_flow.sources.text_options import Empty, Repeated


class TransactionsSourceParams(Params):
    """What to do with an item that a line has twice, and with a line that has none."""

    repeated: Repeated = "error"
    empty: Empty = "keep"


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "sources/transactions", Kind.SOURCE, sets="only", endings=(".dat", ".dat.gz", ".fimi", ".fimi.gz")
    ),
    params=TransactionsSourceParams,
    algorithm="ppdm_flow.sources.transactions.algorithm:TransactionsSource",
)
