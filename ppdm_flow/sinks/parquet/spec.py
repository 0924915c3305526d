"""Parquet sink: its card and parameters."""

from __future__ import annotations

from typing import Literal

from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


class ParquetSinkParams(Params):
    """How to compress."""

    compression: Literal["zstd", "snappy", "gzip", "none"] = "zstd"


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "sinks/parquet",
        Kind.SINK,
        sets="column",
        typed=True,
        keeps_types=True,
        partitions=True,
        endings=(".parquet", ".pq"),
    ),
    params=ParquetSinkParams,
    algorithm="ppdm_flow.sinks.parquet.algorithm:ParquetSink",
)
