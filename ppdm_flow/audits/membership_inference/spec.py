"""The card of the audit `membership_inference`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.audits.records.attributes import named_attributes
from ppdm_flow.core.plugin_info import FigureInfo, Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


class MembershipInferenceParams(Params):
    """``attributes`` are what the attacker knows of a person: all but identifiers if not given.

    Three scores are tried: ``distance`` to the closest released row, ``density``, the released rows within ``radius``
    (a share of the attributes; the median of the distances if not given), and ``likelihood``, how short the record is
    under a code table of the release against one without correlations. ``sample`` bounds the people of each group,
    ``reference`` the released rows; with a large release fewer people are attacked, so that it takes seconds.

    Cells are compared as they are written, but for numbers and declared intervals. Where the release has labels that
    are nobody's value, the attack has no figures, and no gate on it holds (PPF856).
    """

    attributes: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    radius: Annotated[float, Field(ge=0.0, le=1.0)] | None = None
    sample: Annotated[int, Field(ge=10, le=1_000_000)] = 20_000
    reference: Annotated[int, Field(ge=10, le=10_000_000)] = 500_000


SPEC = PluginSpec(
    info=PluginInfo(
        name="membership_inference",
        kind=Kind.AUDIT,
        summary="whether an attacker can tell from the release who was in the data that it was learned from",
        reference=(
            "Shokri, Stronati, Song, Shmatikov, Membership inference attacks, IEEE S&P 2017; Hilprecht, Härterich,"
            " Bernau, Monte Carlo and reconstruction membership inference, PoPETs 2019; DeLong, DeLong, Clarke-Pearson,"
            " Comparing the areas under correlated receiver operating characteristic curves, Biometrics 44, 1988"
        ),
        cost="every person attacked is compared twice with every row of the reference, and one code table; seconds",
        example=(
            "audits:\n  members: {use: membership_inference}\ngates:\n  no-members: {metric: members.auc, max: 0.52}"
        ),
        figures={
            "auc": FigureInfo(
                "how well the best attack ranks people in the data above people outside of it; 50 % is guessing",
                formula="the area under the ROC curve, on the half of the people on which the attack was not chosen",
                better="lower",
            ),
            "advantage": FigureInfo(
                "how many more members than others the best attack takes for members; 0 is guessing",
                formula="true positive rate - false positive rate at its best threshold, chosen on the other half",
                better="lower",
                reference="Yeom, Giacomelli, Fredrikson, Jha, Privacy risk in machine learning, CSF 2018",
            ),
            "advantage_at_1_percent": FigureInfo(
                "the same at a threshold that takes 1 % of the others for members",
                formula="true positive rate - false positive rate",
                better="lower",
                reference="Carlini and others, Membership inference attacks from first principles, IEEE S&P 2022",
            ),
        },
    ),
    params=MembershipInferenceParams,
    algorithm="ppdm_flow.audits.membership_inference.algorithm:MembershipInferenceAudit",
    effect=named_attributes,
)
