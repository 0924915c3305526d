"""Baskets of names: the card and parameters."""

from __future__ import annotations

from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec
from ppdm_flow.sources.text_options import Empty, Mark, Repeated


class BasketsParams(Params):
    """How a line is written: names with delimiters between, in quotes where they hold one; UTF-8, no header.

    Cells without a name are left out: tables pad short rows with them. ``strip`` takes blanks off both ends of names
    outside quotes.
    """

    delimiter: Mark = ","
    quote: Mark = '"'
    strip: bool = False
    repeated: Repeated = "error"
    empty: Empty = "keep"


SPEC = PluginSpec(
    info=PluginInfo(
        name="baskets",
        kind=Kind.SOURCE,
        summary="Baskets of names: one set a line, as many cells as it has items; plain or gzip.",
        reference="RFC 4180, without its rule that all lines have the same number of fields",
        cost="one pass; memory bounded by a block of 8 MB",
        example="source: {path: groceries.csv, format: baskets}\nattributes:\n  basket: {role: items}",
        sets="only",
        endings=(".baskets", ".baskets.gz"),
    ),
    params=BasketsParams,
    algorithm="ppdm_flow.sources.baskets.algorithm:BasketsSource",
)
