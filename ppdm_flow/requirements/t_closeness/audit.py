"""The card of the audit `t_closeness`."""

from __future__ import annotations

from ppdm_flow.core.plugin_info import FigureInfo, Kind, PluginInfo
from ppdm_flow.mining.classes.measures import measures
from ppdm_flow.sdk.spec import Params, PluginSpec


class TClosenessParams(Params):
    """It has none: the requirement says it all."""


SPEC = PluginSpec(
    info=PluginInfo(
        name="t_closeness",
        kind=Kind.AUDIT,
        summary="largest earth mover's distance between the sensitive values of a class and of the whole release",
        reference="Li, Li, Venkatasubramanian, t-closeness, ICDE 2007",
        serves=("t_closeness",),
        cost="one count over quasi-identifiers and sensitive attribute; wildcard: times patterns of missing cells",
        figures=measures(
            "t",
            FigureInfo(
                "how far the sensitive values of a class are distributed otherwise than in the whole release, at most",
                "max over classes of the earth mover's distance; equal: 1/2 sum |p - q|; ordered: the sum over ranks of"
                " |cumulated p - q|, over m - 1 for m values: p are shares in the class, q in all rows",
                "lower",
            ),
        ),
    ),
    params=TClosenessParams,
    algorithm="ppdm_flow.requirements.t_closeness.algorithm:TClosenessAudit",
)
