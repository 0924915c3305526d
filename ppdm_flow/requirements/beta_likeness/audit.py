"""The card of the audit `beta_likeness`."""

from __future__ import annotations

from ppdm_flow.core.plugin_info import FigureInfo, Kind, PluginInfo
from ppdm_flow.mining.classes.measures import measures
from ppdm_flow.sdk.spec import Params, PluginSpec


class BetaLikenessParams(Params):
    """It has none: the requirement says it all."""


SPEC = PluginSpec(
    info=PluginInfo(
        name="beta_likeness",
        kind=Kind.AUDIT,
        summary="largest relative gain of a sensitive value's share in a class over its share in the whole release",
        reference="Cao, Karras, Publishing microdata with a robust privacy guarantee, PVLDB 5(11), 2012",
        serves=("beta_likeness",),
        cost="one count over quasi-identifiers and sensitive attribute; wildcard: times patterns of missing cells",
        figures=measures(
            "beta",
            FigureInfo(
                "by how much a sensitive value is more frequent in a class than in the whole release, at most",
                "max over classes C and values v of (p_C(v) - p(v)) / p(v), and 0: p_C are shares in C, p in all rows",
                "lower",
            ),
        ),
    ),
    params=BetaLikenessParams,
    algorithm="ppdm_flow.requirements.beta_likeness.algorithm:BetaLikenessAudit",
)
