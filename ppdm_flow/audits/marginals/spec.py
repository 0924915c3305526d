"""The card of the audit `marginals`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.audits.records.attributes import chosen_attributes
from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


class MarginalsParams(Params):
    """Columns to compare, in how many at once, how many marginals of each size, and in how many rows."""

    attributes: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    ways: Annotated[int, Field(ge=1, le=3)] = 3
    most: Annotated[int, Field(ge=1, le=10_000)] = 200
    rows: Annotated[int, Field(ge=100, le=1_000_000)] = 100_000


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "audits/marginals",
        Kind.AUDIT,
        asks=AccessRequirements(DataAccess.FRAGMENTS, {"people": DataAccess.ROWS}, passes=2),
    ),
    params=MarginalsParams,
    algorithm="ppdm_flow.audits.marginals.algorithm:MarginalsAudit",
    effect=chosen_attributes,
)
