"""FIMI source: its card and parameters."""

from __future__ import annotations

from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec
from ppdm_flow.sources.text_options import Empty, Repeated


class TransactionsParams(Params):
    """What to do with an item that a line has twice, and with a line that has none.

    Numbers are whole, from 0, of at most 18 digits, and lose leading zeros. A blank line is an empty set.
    """

    repeated: Repeated = "error"
    empty: Empty = "keep"


SPEC = PluginSpec(
    info=PluginInfo(
        name="transactions",
        kind=Kind.SOURCE,
        summary="Transactions of the FIMI repository: item numbers with blanks between, one set a line; plain or gzip.",
        reference="Frequent Itemset Mining Implementations Repository, 2004",
        cost="one pass; memory bounded by a block of 8 MB",
        example="source: {path: retail.dat.gz, format: transactions}\nattributes:\n  basket: {role: items}",
        sets="only",
        endings=(".dat", ".dat.gz", ".fimi", ".fimi.gz"),
    ),
    params=TransactionsParams,
    algorithm="ppdm_flow.sources.transactions.algorithm:TransactionsSource",
)
