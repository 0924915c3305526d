"""The card of the audit `k_anonymity`."""

from __future__ import annotations

from ppdm_flow.core.plugin_info import FigureInfo, Kind, PluginInfo
from ppdm_flow.mining.classes.measures import LACKING, LEFT_OUT, REPEATED
from ppdm_flow.sdk.spec import Params, PluginSpec


class KAnonymityParams(Params):
    """It has none: the requirement says it all."""


SPEC = PluginSpec(
    info=PluginInfo(
        name="k_anonymity",
        kind=Kind.AUDIT,
        summary="size of the smallest equivalence class over the quasi-identifiers, under all three null semantics",
        reference="Samarati, Protecting respondents' identities in microdata release, TKDE 13(6), 2001",
        serves=("k_anonymity",),
        cost="one count over the quasi-identifiers; wildcard: distinct combinations times patterns of missing cells",
        figures={
            "k": FigureInfo("the rows of the smallest equivalence class", "min over classes C of |C|", "higher"),
            "k_own_category": FigureInfo(
                "k where a missing value is a value like any other (`nulls: own_category`)", "min |C|", "higher"
            ),
            "k_wildcard": FigureInfo(
                "k where a row with a missing value fits whatever is known in its place (`nulls: wildcard`)",
                "min over rows of |rows that are missing or the same in every column|",
                "higher",
            ),
            "k_exclude": FigureInfo(
                "k where rows with a missing value belong to no class (`nulls: exclude`)", "min |C|", "higher"
            ),
            "classes": FigureInfo("the equivalence classes over the quasi-identifiers", better="higher"),
            "rows_below": FigureInfo("the rows in classes smaller than the k that is required", better="lower"),
            "uniques": FigureInfo("the rows that are alone in their class", better="lower"),
            "rows_left_out": LEFT_OUT,
            "together_dropped": LACKING,
            **REPEATED,
        },
    ),
    params=KAnonymityParams,
    algorithm="ppdm_flow.requirements.k_anonymity.algorithm:KAnonymityAudit",
)
