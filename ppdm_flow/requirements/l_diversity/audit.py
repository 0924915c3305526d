"""The card of the audit `l_diversity`."""

from __future__ import annotations

from ppdm_flow.core.plugin_info import FigureInfo, Kind, PluginInfo
from ppdm_flow.mining.classes.measures import measures
from ppdm_flow.sdk.spec import Params, PluginSpec


class LDiversityParams(Params):
    """It has none: the requirement says it all."""


SPEC = PluginSpec(
    info=PluginInfo(
        name="l_diversity",
        kind=Kind.AUDIT,
        summary="number of well-represented sensitive values in the least diverse class: distinct, entropy, recursive",
        reference="Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam, l-diversity, ACM TKDD 1(1), 2007",
        serves=("l_diversity",),
        cost="one count over quasi-identifiers and sensitive attribute; wildcard: times patterns of missing cells",
        figures=measures(
            "l",
            FigureInfo(
                "how many well-represented sensitive values the least diverse class has, by the `variant`",
                "min over classes; distinct: the values that occur; entropy: exp(-sum p ln p); recursive: the largest l"
                " with r_1 < c (r_l + ... + r_m), r_i being the rows of the i-th most frequent value; 0 if there is"
                " none",
                "higher",
            ),
            {
                "distinct": FigureInfo(
                    "the distinct sensitive values of the class that has fewest, whatever the `variant`",
                    "min over classes of the values that occur",
                    "higher",
                )
            },
        ),
    ),
    params=LDiversityParams,
    algorithm="ppdm_flow.requirements.l_diversity.algorithm:LDiversityAudit",
)
