"""The card of the audit `first_draw`."""

from __future__ import annotations

from ppdm_flow.core.plugin_info import FigureInfo, Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


class FirstDrawParams(Params):
    """It has none: the requirement and the release ledger say it all."""


SPEC = PluginSpec(
    info=PluginInfo(
        name="first_draw",
        kind=Kind.AUDIT,
        summary="earlier releases of the same people's randomized attributes: independent draws combine",
        reference="Evfimievski, Gehrke, Srikant, Limiting privacy breaches in privacy preserving data mining,"
        " PODS 2003",
        serves=("first_draw",),
        cost="one look-up of the people of each earlier release",
        figures={
            "releases": FigureInfo(
                "the earlier releases that have the same people's values of an attribute that is randomized now",
                "earlier releases, other than generated ones, with such an attribute and somebody who is in this one",
                "lower",
            )
        },
    ),
    params=FirstDrawParams,
    algorithm="ppdm_flow.requirements.first_draw.algorithm:FirstDrawAudit",
)
