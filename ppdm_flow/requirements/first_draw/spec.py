"""The kind of requirement `first_draw`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.core.requirement import Requirement
from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.policy.language.models import Policy
from ppdm_flow.policy.language.wording import Failure, Wording
from ppdm_flow.policy.loaded import ResolvedPlaces
from ppdm_flow.policy.order.claim import Order
from ppdm_flow.policy.order.frame import ComparedPolicies, PolicyFrame
from ppdm_flow.requirements.first_draw.requirement import FirstDraw
from ppdm_flow.sdk.spec import Params, PluginSpec

# What was never randomized before: comparable only within one history.


@dataclass(frozen=True, slots=True)
class FirstDrawClaim:
    """None of ``attributes`` has been released before, of the same people."""

    attributes: frozenset[str]


def says(requirement: FirstDraw, _frame: PolicyFrame) -> Iterator[FirstDrawClaim]:
    """Yield what a first draw claims."""
    yield FirstDrawClaim(frozenset(requirement.attributes))


def undrawn(given: FirstDrawClaim, required: FirstDrawClaim, between: ComparedPolicies) -> str | None:
    """More attributes, none of which was released before."""
    same = between.one_history and between.certain(given.attributes, required.attributes)
    return (
        "the same attributes or more, in the same ledger" if same and given.attributes >= required.attributes else None
    )


ORDER = Order(
    says=says,
    rules=((FirstDrawClaim, FirstDrawClaim, undrawn),),
    fields=frozenset(("attributes",)),
)


class FirstDrawParams(Params):
    """It has none: the requirement and the release ledger say it all."""


AUDIT = PluginSpec(
    info=PluginInfo.of_page(
        "audits/first_draw", Kind.AUDIT, serves=("first_draw",), asks=AccessRequirements(DataAccess.COUNTS, passes=1)
    ),
    params=FirstDrawParams,
    algorithm="ppdm_flow.requirements.first_draw.algorithm:FirstDrawAudit",
)


def clause(requirement: Mapping[str, Any]) -> str:
    """Say what it bounds, and by what."""
    return f"first draw of {', '.join(requirement['attributes'])}"


def advice(_failure: Failure) -> str:
    """Say what to do where it does not hold."""
    return "Hand out the earlier release again: another draw tells more. Or leave the randomized attributes out."


WORDING = Wording(label="Repeated randomization", clause=clause, advice=advice)


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
