"""Excel source: its card and parameters."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


class ExcelSourceParams(Params):
    """``sheet`` is a name, or a position from 1; the first one if left out."""

    sheet: str | None = None
    header: bool = True
    skip_rows: Annotated[int, Field(ge=0)] = 0


SPEC = PluginSpec(
    info=PluginInfo.of_page("sources/excel", Kind.SOURCE, endings=(".xlsx",), typed=True),
    params=ExcelSourceParams,
    algorithm="ppdm_flow.sources.excel.algorithm:ExcelSource",
)
