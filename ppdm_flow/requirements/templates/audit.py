"""The card of the audit `templates`."""

from __future__ import annotations

from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.requirements.templates.measures import FIGURES
from ppdm_flow.sdk.spec import Params, PluginSpec


class TemplatesParams(Params):
    """It has none: the requirements say it all."""


SPEC = PluginSpec(
    info=PluginInfo(
        name="templates",
        kind=Kind.AUDIT,
        summary="worst confidence of any inference that a privacy template forbids, and how many go beyond it",
        reference="Wang, Fung, Yu, Template-based privacy preservation in classification problems, ICDM 2005",
        serves=("templates",),
        cost="one count over channel and sensitive attribute, for each template",
        figures=FIGURES,
    ),
    params=TemplatesParams,
    algorithm="ppdm_flow.requirements.templates.algorithm:TemplatesAudit",
)
