"""The card of the audit `k_map`."""

from __future__ import annotations

from ppdm_flow.core.plugin_info import FigureInfo, Kind, PluginInfo
from ppdm_flow.mining.classes.measures import LEFT_OUT
from ppdm_flow.sdk.spec import Params, PluginSpec


class KMapParams(Params):
    """It has none: the requirement says it all."""


SPEC = PluginSpec(
    info=PluginInfo(
        name="k_map",
        kind=Kind.AUDIT,
        summary="smallest number of people in a population table that fit a class of the release",
        reference="Sweeney, Computational disclosure control, PhD thesis, MIT, 2001",
        serves=("k_map",),
        cost="one count over the quasi-identifiers, one pass over the population",
        figures={
            "k": FigureInfo(
                "the people of the population who fit a class of the release, for the class that fewest fit",
                "min over released classes of the people that fit; 0 without a row",
                "higher",
            ),
            "rows_below": FigureInfo("the rows that fewer people fit than are required", better="lower"),
            "classes": FigureInfo("the equivalence classes over the quasi-identifiers", better="higher"),
            "classes_without_people": FigureInfo(
                "the classes that nobody fits: the population lacks people, or writes values otherwise", better="lower"
            ),
            "population": FigureInfo("the people in the population table"),
            "rows_left_out": LEFT_OUT,
        },
    ),
    params=KMapParams,
    algorithm="ppdm_flow.requirements.k_map.algorithm:KMapAudit",
)
