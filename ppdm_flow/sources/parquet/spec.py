"""Parquet source: its card and parameter."""

from __future__ import annotations

from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec
from ppdm_flow.sources.text_options import Repeated


class ParquetSourceParams(Params):
    """What to do with an item that a set in a list column has twice; all else a Parquet file says of itself."""

    repeated: Repeated = "error"


SPEC = PluginSpec(
    info=PluginInfo.of_page("sources/parquet", Kind.SOURCE, sets="column", endings=(".parquet", ".pq"), typed=True),
    params=ParquetSourceParams,
    algorithm="ppdm_flow.sources.parquet.algorithm:ParquetSource",
)
