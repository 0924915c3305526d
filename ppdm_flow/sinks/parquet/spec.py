"""Parquet sink: its card and parameters."""

from __future__ import annotations

from typing import Literal

from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


class ParquetParams(Params):
    """How to compress."""

    compression: Literal["zstd", "snappy", "gzip", "none"] = "zstd"


SPEC = PluginSpec(
    info=PluginInfo(
        name="parquet",
        kind=Kind.SINK,
        summary="Apache Parquet: text columns, row groups of 131,072 rows, no trace of values that do not occur."
        " Sets are lists, randomized ones bits or seeds, whose alphabet stands in the file's metadata.",
        reference="Apache Parquet format",
        sets="column",
        endings=(".parquet", ".pq"),
    ),
    params=ParquetParams,
    algorithm="ppdm_flow.sinks.parquet.algorithm:ParquetSink",
)
