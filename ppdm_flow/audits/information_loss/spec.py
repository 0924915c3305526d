"""The card of the audit `information_loss`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.audits.records.attributes import chosen_attributes
from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


class InformationLossParams(Params):
    """``attributes`` to compare, in at most ``rows`` rows; relations of the first ``pair_columns`` of them."""

    attributes: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    rows: Annotated[int, Field(ge=100, le=5_000_000)] = 200_000
    pair_columns: Annotated[int, Field(ge=2, le=200)] = 50


SPEC = PluginSpec(
    info=PluginInfo.of_page("audits/information_loss", Kind.AUDIT, asks=AccessRequirements(DataAccess.ROWS, passes=2)),
    params=InformationLossParams,
    algorithm="ppdm_flow.audits.information_loss.algorithm:InformationLossAudit",
    effect=chosen_attributes,
)
