"""The card of the audit `distributions`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


class DistributionsParams(Params):
    """``pair_columns`` bounds the columns whose pairs are compared, ``pair_rows`` the rows looked at for that."""

    pair_columns: Annotated[int, Field(ge=0, le=200)] = 20
    pair_rows: Annotated[int, Field(ge=1)] = 200_000


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "audits/distributions",
        Kind.AUDIT,
        asks=AccessRequirements(
            DataAccess.FRAGMENTS, {"numbers": DataAccess.ROWS, "weights": DataAccess.ROWS}, passes=2, passes_each=4
        ),
    ),
    params=DistributionsParams,
    algorithm="ppdm_flow.audits.distributions.algorithm:DistributionsAudit",
)
