"""CSV source: its card and parameters."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec
from ppdm_flow.sources.text_options import Encoding, Mark


class CsvParams(Params):
    """How the file is written. gzip is recognized by its first bytes, line ends are.

    An empty cell without quotes is a missing value, ``""`` the empty text. ``strip`` takes blanks off both ends of
    every cell and name. ``skip_rows`` lines before the header (or the first row) are not read. ``formulas: escape`` is
    for files that were written so: the ``'`` before what a spreadsheet would run is taken away again.
    """

    delimiter: Mark = ","
    quote: Mark = '"'
    header: bool = True
    strip: bool = False
    skip_rows: Annotated[int, Field(ge=0)] = 0
    encoding: Encoding = "utf-8"
    formulas: Literal["keep", "escape"] = "keep"


SPEC = PluginSpec(
    info=PluginInfo(
        name="csv",
        kind=Kind.SOURCE,
        summary="Comma-separated text (RFC 4180), plain or gzip.",
        reference="RFC 4180",
        cost="one pass; memory bounded by a block of 4 MB",
        example='source:\n  path: visits.csv\n  with: {delimiter: ";", encoding: cp1252, skip_rows: 1}\n'
        '  missing: ["", "NA"]',
        endings=(".csv", ".csv.gz", ".data", ".data.gz", ".txt", ".txt.gz", ".tsv", ".tsv.gz"),
        implied={".tsv": {"delimiter": "\t"}, ".tsv.gz": {"delimiter": "\t"}},
    ),
    params=CsvParams,
    algorithm="ppdm_flow.sources.csv.algorithm:CsvSource",
)
