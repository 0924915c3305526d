"""Baskets sink: its card and parameters."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator

from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


def _mark(text: str) -> str:
    mark = {"tab": "\t", "\\t": "\t"}.get(text, text)
    if len(mark) != 1 or not mark.isascii() or mark in '\r\n\0"':
        raise ValueError("must be one ASCII character, or `tab`")
    return mark


class BasketsSinkParams(Params):
    """How to write; an empty set is an empty line."""

    delimiter: Annotated[str, AfterValidator(_mark)] = ","


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "sinks/baskets", Kind.SINK, sets="only", endings=(".baskets", ".baskets.gz", ".basket", ".basket.gz")
    ),
    params=BasketsSinkParams,
    algorithm="ppdm_flow.sinks.baskets.algorithm:BasketsSink",
)
