"""The kind of requirement `km_anonymity`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.policy.language.wording import Draft, DraftFacts, Failure, Wording
from ppdm_flow.policy.order.frame import ComparedPolicies
from ppdm_flow.policy.order.marks import order_by_marks
from ppdm_flow.policy.rules.item_sets import item_sets
from ppdm_flow.policy.rules.scene import Scene, entry_path
from ppdm_flow.requirements.km_anonymity.requirement import KmAnonymity
from ppdm_flow.sdk.spec import requirement_audit


def judge(scene: Scene, entries: Mapping[str, KmAnonymity]) -> Iterator[Diagnostic]:
    """Judge it (PPF575)."""
    for name, clause in entries.items():
        yield from item_sets(scene, entry_path("km_anonymity", name), clause.attribute, made=True)


def _why(given: KmAnonymity, required: KmAnonymity, _between: ComparedPolicies) -> str:
    return f"{given.k} sets for up to {given.m} items are {required.k} sets for up to {required.m}"


ORDER = order_by_marks(KmAnonymity, alike=lambda _given, _required, between: between.same_counting, why=_why)


AUDIT = requirement_audit(
    "km_anonymity",
    "ppdm_flow.requirements.km_anonymity.algorithm:KmAnonymityAudit",
    sets="column",
    asks=AccessRequirements(DataAccess.TABLE, passes=3),
)


_KNOWN_ITEMS = 2


def draft(facts: DraftFacts) -> Draft | None:
    """Let every pair of items be in several sets, or in none."""
    if not facts.sets:
        return None
    reason = (
        f"An adversary who knows {_KNOWN_ITEMS} items of somebody's set finds at least {facts.people - 1} other sets"
        " with both. A larger `m` protects from adversaries who know more, and loses more."
    )
    return Draft(reason, {"k": facts.people, "m": _KNOWN_ITEMS})


def advice(failure: Failure) -> str:
    """Say what to do where it does not hold."""
    step = "`frequent: {use: apriori_anonymization}`"
    if failure.serving:
        return f"{failure.who} works at it, and a later step changes the sets or drops some: let {step} come last."
    return (
        f"Add {step} as the last step that changes the sets: it leaves out items until every combination that is left"
        " is in enough sets, or rolls them up where the attribute has a `hierarchy`, which loses less."
    )


WORDING = Wording(
    label="k^m-anonymity",
    clause=lambda requirement: f"k of {requirement['m']} items of {requirement['attribute']} ≥ {requirement['k']}",
    advice=advice,
    draft=draft,
)


SPEC = RequirementSpec(
    name="km_anonymity",
    requirement=KmAnonymity,
    entries=Entries.ONCE,
    order="ppdm_flow.requirements.km_anonymity.spec:ORDER",
    audit=AUDIT,
    wording=WORDING,
    judge=judge,
    rank=140,
    aliases=("km", "k_m_anonymity"),
    holds_by_rows=lambda _entry: True,
)
