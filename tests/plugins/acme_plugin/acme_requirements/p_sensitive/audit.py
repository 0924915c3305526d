"""The card of the audit."""

from __future__ import annotations

from ppdm_flow.mining.classes.measures import measures
from ppdm_flow.plugins import FigureInfo, Kind, Params, PluginInfo, PluginSpec
from ppdm_flow.requirements.k_anonymity.spec import AUDIT as K_ANONYMITY

SPEC = PluginSpec(
    info=PluginInfo(
        name="acme_p_sensitive",
        kind=Kind.AUDIT,
        summary="rows of the smallest class, and values of each sensitive attribute in the least diverse one",
        version="2.1.0",
        reference="Truta, Vinay, Privacy protection: p-sensitive k-anonymity property, ICDE Workshops 2006",
        serves=("acme_p_sensitive",),
        figures={
            **K_ANONYMITY.info.figures,
            **measures(
                {
                    "p": FigureInfo(
                        "the values of a sensitive attribute in the class that has the fewest",
                        "min over classes C of the distinct values of the attribute in C",
                        "higher",
                    )
                }
            ),
        },
    ),
    params=Params,
    algorithm="acme_requirements.p_sensitive.algorithm:PSensitiveAudit",
)
