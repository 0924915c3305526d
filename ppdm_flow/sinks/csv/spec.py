"""CSV sink: its card and parameters."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator

from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


def _mark(text: str) -> str:
    mark = {"tab": "\t", "\\t": "\t"}.get(text, text)
    if len(mark) != 1 or not mark.isascii() or mark in '\r\n\0"':
        raise ValueError("must be one ASCII character, or `tab`")
    return mark


class CsvSinkParams(Params):
    """How to write; a missing value is an empty cell, the empty text ``""``."""

    delimiter: Annotated[str, AfterValidator(_mark)] = ","
    formulas: Literal["keep", "escape"] = "keep"


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "sinks/csv",
        Kind.SINK,
        endings=(".csv", ".csv.gz", ".data", ".data.gz", ".txt", ".txt.gz", ".tsv", ".tsv.gz"),
        typed=True,
        partitions=True,
        implied={".tsv": {"delimiter": "\t"}, ".tsv.gz": {"delimiter": "\t"}},
    ),
    params=CsvSinkParams,
    algorithm="ppdm_flow.sinks.csv.algorithm:CsvSink",
)
