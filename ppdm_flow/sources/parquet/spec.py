"""Parquet source: its card; it has no parameters."""

from __future__ import annotations

from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


class ParquetParams(Params):
    """None: a Parquet file describes itself."""


SPEC = PluginSpec(
    info=PluginInfo(
        name="parquet",
        kind=Kind.SOURCE,
        summary="Apache Parquet; numbers, dates and booleans become their canonical text.",
        reference="Apache Parquet format",
        cost="one pass; memory bounded by a row group",
    ),
    params=ParquetParams,
    algorithm="ppdm_flow.sources.parquet.algorithm:ParquetSource",
)
