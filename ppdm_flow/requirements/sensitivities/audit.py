"""The card of the audit `sensitivities`."""

from __future__ import annotations

from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.requirements.sensitivities.measures import FIGURES
from ppdm_flow.sdk.spec import Params, PluginSpec


class SensitivitiesParams(Params):
    """It has none: the requirements say it all."""


SPEC = PluginSpec(
    info=PluginInfo(
        name="sensitivities",
        kind=Kind.AUDIT,
        summary="worst posteriors of sensitive values over all priors, and whether the bytes follow the operator",
        reference=(
            "Evfimievski, Gehrke, Srikant, Limiting privacy breaches, PODS 2003;"
            " Chaytor, Wang, Fine grain perturbation for privacy preserving data publishing"
        ),
        serves=("sensitivities",),
        cost="linear in the number of values; one joint count",
        figures=FIGURES,
    ),
    params=SensitivitiesParams,
    algorithm="ppdm_flow.requirements.sensitivities.algorithm:SensitivitiesAudit",
)
