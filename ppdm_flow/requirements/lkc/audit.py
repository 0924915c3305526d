"""The card of the audit `lkc`."""

from __future__ import annotations

from ppdm_flow.core.plugin_info import FigureInfo, Kind, PluginInfo
from ppdm_flow.mining.classes.measures import LACKING, REPEATED
from ppdm_flow.sdk.spec import Params, PluginSpec


class LKCParams(Params):
    """It has none: the requirement says it all."""


SPEC = PluginSpec(
    info=PluginInfo(
        name="lkc",
        kind=Kind.AUDIT,
        summary="smallest group and highest confidence by any few quasi-identifiers together",
        reference="Mohammed, Fung, Hung, Lee, Anonymizing healthcare data, KDD 2009",
        serves=("lkc",),
        cost="distinct rows times combinations of at most L of the quasi-identifiers",
        figures={
            "k": FigureInfo(
                "the fewest rows that fit what somebody knows who knows at most L quasi-identifiers of a person",
                "min over sets of at most L quasi-identifiers, and their values that occur together, of the rows that"
                " have them",
                "higher",
            ),
            "confidence": FigureInfo(
                "how sure such a person can be of one of the sensitive values that the requirement names of an"
                " attribute",
                "max over the same groups g, and these attributes, of |rows of g with one of its values| / |g|; 0"
                " without any",
                "lower",
            ),
            "together_confidence": FigureInfo(
                "the same where the values of each group are those that all releases of the run leave possible",
                "max over the combinations of groups that some person has",
                "lower",
            ),
            "together_dropped": LACKING,
            "combinations": FigureInfo(
                "the sets of quasi-identifiers that were looked at; with `nulls: own_category` those of L, which are"
                " the worst"
            ),
            "rows_left_out": FigureInfo(
                "the rows that no set of quasi-identifiers groups, since values are missing (`nulls: exclude`)",
                better="lower",
            ),
            "repeated": REPEATED["repeated"],
        },
    ),
    params=LKCParams,
    algorithm="ppdm_flow.requirements.lkc.algorithm:LKCAudit",
)
