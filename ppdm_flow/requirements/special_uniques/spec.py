"""The kind of requirement `special_uniques`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.roles import Nulls
from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.policy.language.wording import Failure, Wording
from ppdm_flow.policy.order.claim import Order
from ppdm_flow.policy.order.frame import ComparedPolicies, PolicyFrame
from ppdm_flow.policy.rules.grouping import grouped
from ppdm_flow.policy.rules.scene import Scene, entry_path
from ppdm_flow.requirements.special_uniques.requirement import AUDIT, FewUniques


def judge(scene: Scene, entries: Mapping[str, FewUniques]) -> Iterator[Diagnostic]:
    """Judge what it groups by (PPF500 to PPF502, PPF525)."""
    for name, clause in entries.items():
        yield from grouped(scene, clause.attributes, entry_path("special_uniques", name))


# Special uniques: larger sets, over more attributes, single out a smaller share.


@dataclass(frozen=True, slots=True)
class UniquesClaim:
    """At most ``max_share`` of the rows is unique by some ``size`` of the ``attributes``."""

    size: int
    max_share: float
    attributes: frozenset[str]


def says(requirement: FewUniques, _frame: PolicyFrame) -> Iterator[UniquesClaim]:
    """Yield what it claims."""
    yield UniquesClaim(requirement.size, requirement.max_share, frozenset(requirement.attributes))


def singled_out(given: UniquesClaim, required: UniquesClaim, between: ComparedPolicies) -> str | None:
    """Return why no more rows are unique: who knows fewer attributes singles out nobody else.

    With missing values as a category of their own, whoever is unique under wildcards or among the known is unique too.
    """
    nulls = between.given.nulls, between.asked.nulls
    alike = nulls[0] is nulls[1] or nulls[0] is Nulls.OWN_CATEGORY
    same = alike and between.same_counting and between.certain(given.attributes, required.attributes)
    if not same or not given.attributes >= required.attributes:
        return None
    if given.size < required.size or given.max_share > required.max_share:
        return None
    return (
        f"a share of {given.max_share:g} is at most {required.max_share:g}, and whom up to {required.size} of"
        f" {len(required.attributes)} attributes single out, up to {given.size} of {len(given.attributes)} do"
    )


ORDER = Order(
    says=says,
    rules=((UniquesClaim, UniquesClaim, singled_out),),
    fields=frozenset(
        (
            "size",
            "max_share",
            "attributes",
        )
    ),
)


def clause(requirement: Mapping[str, Any]) -> str:
    """Say what it bounds, and by what."""
    return f"singled out by {requirement.get('size', 3)} attributes ≤ {requirement.get('max_share', 0.0):.4g}"


def advice(_failure: Failure) -> str:
    """Say what to do where it does not hold."""
    return (
        "Generalize or drop the attributes that most sets contain: the chart of the audit `special_uniques` names"
        " them. `suppress` hides rare values of single attributes; classes of `k_anonymity` leave nobody unique."
    )


WORDING = Wording(label="special uniques", clause=clause, advice=advice, section="How many people share a combination")


SPEC = RequirementSpec(
    name="special_uniques",
    requirement=FewUniques,
    entries=Entries.ONCE,
    order="ppdm_flow.requirements.special_uniques.spec:ORDER",
    audit=AUDIT,
    wording=WORDING,
    judge=judge,
    rank=135,
    aliases=("suda", "sample_uniques"),
)
