"""Baskets of names: the card and parameters."""

from __future__ import annotations

from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec
from ppdm_flow.sources.text_options import Empty, Mark, Repeated


class BasketsSourceParams(Params):
    """How a line is written: names with delimiters between, in quotes where they hold one; UTF-8, no header."""

    delimiter: Mark = ","
    quote: Mark = '"'
    strip: bool = False
    repeated: Repeated = "error"
    empty: Empty = "keep"


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "sources/baskets", Kind.SOURCE, sets="only", endings=(".baskets", ".baskets.gz", ".basket", ".basket.gz")
    ),
    params=BasketsSourceParams,
    algorithm="ppdm_flow.sources.baskets.algorithm:BasketsSource",
)
