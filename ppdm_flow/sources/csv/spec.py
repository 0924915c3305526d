"""CSV source: its card and parameters."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec
from ppdm_flow.sources.text_options import Encoding, Mark


class CsvParams(Params):
    """How the file is written. gzip is recognized by its first bytes, line ends are."""

    delimiter: Mark = ","
    quote: Mark = '"'
    header: bool = True
    strip: bool = False
    skip_rows: Annotated[int, Field(ge=0)] = 0
    encoding: Encoding = "utf-8"
    formulas: Literal["keep", "escape"] = "keep"


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "sources/csv",
        Kind.SOURCE,
        endings=(".csv", ".csv.gz", ".data", ".data.gz", ".txt", ".txt.gz", ".tsv", ".tsv.gz"),
        implied={".tsv": {"delimiter": "\t"}, ".tsv.gz": {"delimiter": "\t"}},
    ),
    params=CsvParams,
    algorithm="ppdm_flow.sources.csv.algorithm:CsvSource",
)
