"""Bounds on the gain of a share: a lower one, over more attributes; and what ratios and distances say of it."""

from __future__ import annotations

import math

from ppdm_flow.policy.order.classes import bounded, unions
from ppdm_flow.policy.order.frame import ComparedPolicies
from ppdm_flow.policy.order.marks import order_by_marks
from ppdm_flow.requirements.beta_likeness.requirement import BetaLikeness
from ppdm_flow.requirements.delta_disclosure.requirement import DeltaDisclosure
from ppdm_flow.requirements.t_closeness.order import near_by_gain
from ppdm_flow.requirements.t_closeness.requirement import TCloseness


def gains_of_ratios(given: DeltaDisclosure, required: BetaLikeness, between: ComparedPolicies) -> str | None:
    """A ratio of at most e^delta is a gain of at most e^delta - 1."""
    return bounded(
        given, required, math.expm1(min(given.delta, 700.0)), required.beta, between, "beta is at most e^delta - 1"
    )


def near_by_gains(given: BetaLikeness, required: TCloseness, between: ComparedPolicies) -> str | None:
    """A bound on gains is one on distances."""
    return near_by_gain(given, given.beta, required, between)


ORDER = order_by_marks(
    BetaLikeness,
    alike=None,
    groups=unions,
    rules=((DeltaDisclosure, BetaLikeness, gains_of_ratios), (BetaLikeness, TCloseness, near_by_gains)),
    bounds=("beta",),
)
