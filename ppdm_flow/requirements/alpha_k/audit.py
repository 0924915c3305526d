"""The card of the audit `alpha_k`."""

from __future__ import annotations

from ppdm_flow.core.plugin_info import FigureInfo, Kind, PluginInfo
from ppdm_flow.mining.classes.measures import measures
from ppdm_flow.sdk.spec import Params, PluginSpec


class AlphaKParams(Params):
    """It has none: the requirement says it all."""


SPEC = PluginSpec(
    info=PluginInfo(
        name="alpha_k",
        kind=Kind.AUDIT,
        summary="largest share of a sensitive value in a class: the alpha of (alpha, k)-anonymity",
        reference="Wong, Li, Fu, Wang, (alpha, k)-anonymity, KDD 2006",
        serves=("alpha_k",),
        cost="one count over quasi-identifiers and sensitive attribute; wildcard: times patterns of missing cells",
        figures=measures(
            "alpha",
            FigureInfo(
                "the largest share of a sensitive value (of the requirement's `values`, if it names some) in a class",
                "max over classes C and values v of |rows of C with v| / |C|",
                "lower",
            ),
        ),
    ),
    params=AlphaKParams,
    algorithm="ppdm_flow.requirements.alpha_k.algorithm:AlphaKAudit",
)
