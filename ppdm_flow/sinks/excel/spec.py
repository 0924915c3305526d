"""Excel sink: its card and parameter."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator

from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec

_LONGEST = 31


def _sheet(name: str) -> str:
    marks = any(mark in name for mark in "[]:*?/\\") or name.startswith("'") or name.endswith("'")
    if not name.strip() or len(name) > _LONGEST or marks or not name.isprintable() or name.lower() == "history":
        raise ValueError("must be a name of a sheet: 1 to 31 characters, none of them []:*?/\\, and no ' at an end")
    return name


class ExcelSinkParams(Params):
    """``sheet`` is the name of the one sheet."""

    sheet: Annotated[str, AfterValidator(_sheet)] = "data"


SPEC = PluginSpec(
    info=PluginInfo.of_page("sinks/excel", Kind.SINK, typed=True, endings=(".xlsx",)),
    params=ExcelSinkParams,
    algorithm="ppdm_flow.sinks.excel.algorithm:ExcelSink",
)
