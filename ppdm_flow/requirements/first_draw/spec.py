"""The kind of requirement `first_draw`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.requirement import Requirement
from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.policy.language.models import Policy
from ppdm_flow.policy.language.wording import Wording
from ppdm_flow.policy.loaded import ResolvedPlaces
from ppdm_flow.policy.order.frame import ComparedPolicies
from ppdm_flow.policy.order.marks import order_by_marks
from ppdm_flow.requirements.first_draw.requirement import FirstDraw
from ppdm_flow.sdk.spec import Params, requirement_audit

# What was never randomized before: comparable only within one history.


def _alike(given: FirstDraw, required: FirstDraw, between: ComparedPolicies) -> bool:
    return between.one_history and between.certain(given.attributes, required.attributes)


ORDER = order_by_marks(FirstDraw, alike=_alike, why=lambda *_both: "the same attributes or more, in the same ledger")


class FirstDrawParams(Params):
    """It has none: the requirement and the release ledger say it all."""


AUDIT = requirement_audit(
    "first_draw",
    "ppdm_flow.requirements.first_draw.algorithm:FirstDrawAudit",
    params=FirstDrawParams,
    asks=AccessRequirements(DataAccess.COUNTS, passes=1),
)


WORDING = Wording(
    label="Repeated randomization",
    clause=lambda requirement: f"first draw of {', '.join(requirement['attributes'])}",
    advice=lambda _failure: (
        "Hand out the earlier release again: another draw tells more. Or leave the randomized attributes out."
    ),
)


def implied(policy: Policy, others: Sequence[Requirement], places: ResolvedPlaces) -> Iterator[Requirement]:
    """Yield that what is randomized was not randomized before, where a ledger remembers it."""
    randomized = tuple(dict.fromkeys(name for r in others if r.needs_operator for name in r.secrets))
    if randomized and policy.ledger is not None and policy.ledger.repeat == "refuse":
        yield FirstDraw.of("ledger.repeat", span=places.key("ledger"), attributes=randomized)


SPEC = RequirementSpec(
    name="first_draw",
    requirement=FirstDraw,
    entries=Entries.IMPLIED,
    order="ppdm_flow.requirements.first_draw.spec:ORDER",
    audit=AUDIT,
    wording=WORDING,
    implied=implied,
    rank=160,
    id="ledger.repeat",
)
