"""FIMI sink: its card; it has no parameters."""

from __future__ import annotations

from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


class TransactionsParams(Params):
    """None."""


SPEC = PluginSpec(
    info=PluginInfo(
        name="transactions",
        kind=Kind.SINK,
        summary="Item numbers with blanks between, one set a line (FIMI); gzip where the path ends with `.gz`.",
        reference="Frequent Itemset Mining Implementations Repository, 2004",
        sets="only",
        endings=(".dat", ".dat.gz", ".fimi", ".fimi.gz"),
    ),
    params=TransactionsParams,
    algorithm="ppdm_flow.sinks.transactions.algorithm:TransactionsSink",
)
