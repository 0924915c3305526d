"""The card of the audit `delta_disclosure`."""

from __future__ import annotations

from ppdm_flow.core.plugin_info import FigureInfo, Kind, PluginInfo
from ppdm_flow.mining.classes.measures import measures
from ppdm_flow.sdk.spec import Params, PluginSpec


class DeltaDisclosureParams(Params):
    """It has none: the requirement says it all."""


SPEC = PluginSpec(
    info=PluginInfo(
        name="delta_disclosure",
        kind=Kind.AUDIT,
        summary="largest |ln| of the ratio of a sensitive value's shares in a class and in the whole release",
        reference="Brickell, Shmatikov, The cost of privacy, KDD 2008",
        serves=("delta_disclosure",),
        cost="one count over quasi-identifiers and sensitive attribute; wildcard: times patterns of missing cells",
        figures=measures(
            "delta",
            FigureInfo(
                "how many times as frequent, or as rare, a value is in a class as in the whole release, as a logarithm",
                "max over classes C and values v of |ln(p_C(v) / p(v))|: p_C are shares in C, p in all rows; it does"
                " not exist where a class lacks a value",
                "lower",
            ),
            {
                "classes_lacking_a_value": FigureInfo(
                    "the classes without some value that others have: whoever is in one is known not to have it",
                    better="lower",
                )
            },
        ),
    ),
    params=DeltaDisclosureParams,
    algorithm="ppdm_flow.requirements.delta_disclosure.algorithm:DeltaDisclosureAudit",
)
