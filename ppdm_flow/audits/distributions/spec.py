"""The card of the audit `distributions`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.audits.distributions.measures import FIGURES
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


class DistributionsParams(Params):
    """``pair_columns`` bounds the columns whose pairs are compared, ``pair_rows`` the rows looked at for that."""

    pair_columns: Annotated[int, Field(ge=0, le=200)] = 20
    pair_rows: Annotated[int, Field(ge=1)] = 200_000


SPEC = PluginSpec(
    info=PluginInfo(
        name="distributions",
        kind=Kind.AUDIT,
        summary="how far each column, and the association of each two columns, moved from the original",
        reference="total variation distance; Cramér, Mathematical methods of statistics, 1946, section 21.9",
        cost="one count for each column, and for each two columns on at most `pair_rows` rows",
        figures=FIGURES,
    ),
    params=DistributionsParams,
    algorithm="ppdm_flow.audits.distributions.algorithm:DistributionsAudit",
)
