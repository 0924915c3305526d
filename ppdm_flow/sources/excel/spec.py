"""Excel source: its card and parameters."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


class ExcelParams(Params):
    """``sheet`` is a name, or a position from 1; the first one if left out."""

    sheet: str | None = None
    header: bool = True
    skip_rows: Annotated[int, Field(ge=0)] = 0


SPEC = PluginSpec(
    info=PluginInfo(
        name="excel",
        kind=Kind.SOURCE,
        summary="One sheet of an Excel workbook (.xlsx, .xls, .ods); needs ppdm_flow[excel].",
        cost="the sheet is held in memory",
        example="source:\n  path: visits.xlsx\n  with: {sheet: March}",
        endings=(".xlsx",),
    ),
    params=ExcelParams,
    algorithm="ppdm_flow.sources.excel.algorithm:ExcelSource",
)
