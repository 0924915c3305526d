"""The kind of requirement `special_uniques`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.roles import Nulls
from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.policy.language.wording import RECODING, Failure, Wording
from ppdm_flow.policy.order.frame import ComparedPolicies
from ppdm_flow.policy.order.marks import order_by_marks, wider
from ppdm_flow.policy.rules.grouping import grouped
from ppdm_flow.policy.rules.scene import Scene, entry_path
from ppdm_flow.policy.text.quoting import plain_or_quoted
from ppdm_flow.requirements.special_uniques.requirement import AUDIT, FewUniques


def judge(scene: Scene, entries: Mapping[str, FewUniques]) -> Iterator[Diagnostic]:
    """Judge what it groups by (PPF500 to PPF502, PPF525)."""
    for name, clause in entries.items():
        yield from grouped(scene, clause.attributes, entry_path("special_uniques", name))


def _alike(_given: FewUniques, _required: FewUniques, between: ComparedPolicies) -> bool:
    """Whether both treat missing values alike, or the given policy counts them as a category of their own.

    A row that is unique under wildcards or exclusion is unique with that category too.
    """
    nulls = between.given.nulls, between.asked.nulls
    return between.same_counting and (nulls[0] is nulls[1] or nulls[0] is Nulls.OWN_CATEGORY)


def _why(given: FewUniques, required: FewUniques, _between: ComparedPolicies) -> str:
    return (
        f"a share of {given.max_share:g} is at most {required.max_share:g}, and whom up to {required.size} of"
        f" {len(required.attributes)} attributes single out, up to {given.size} of {len(given.attributes)} do"
    )


ORDER = order_by_marks(FewUniques, alike=_alike, groups=wider, why=_why)


def advice(failure: Failure) -> str:
    """Say what to do where it does not hold."""
    names = ", ".join(map(plain_or_quoted, failure.requirement.get("attributes", ())))
    over = f", attributes: [{names}]" if names else ""
    return (
        "Rows that look alike in all of these attributes are unique by none of them: ask for `k_anonymity: {k: 2"
        f"{over}}}` under `privacy:`, or add these attributes to those that it names already, and let {RECODING} be the"
        " last step before the release. Or drop an attribute that most sets contain: the chart of the audit"
        " `special_uniques` names them."
    )


WORDING = Wording(
    label="special uniques",
    clause=lambda requirement: (
        f"singled out by {requirement.get('size', 3)} attributes ≤ {requirement.get('max_share', 0.0):.4g}"
    ),
    advice=advice,
    section="How many people share a combination",
)


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
