"""The kind of requirement `k_anonymity`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ppdm_flow.core.asks import class_counts
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.roles import Role
from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.policy.language.wording import LEAVING_OUT, RECODING, Draft, DraftFacts, Failure, Wording, listed
from ppdm_flow.policy.order.classes import contained
from ppdm_flow.policy.order.frame import ComparedPolicies
from ppdm_flow.policy.order.marks import order_by_marks
from ppdm_flow.policy.rules.grouping import grouping
from ppdm_flow.policy.rules.repeats import repeats
from ppdm_flow.policy.rules.scene import Scene, entry_path
from ppdm_flow.requirements.k_anonymity.requirement import KAnonymity
from ppdm_flow.sdk.spec import requirement_audit

_COARSE = {"generalized", "suppressed"}


def judge(scene: Scene, entries: Mapping[str, KAnonymity]) -> Iterator[Diagnostic]:
    """Judge it (PPF500 to PPF502, PPF525)."""
    for name, requirement in entries.items():
        yield from _judge(scene, requirement, entry_path("k_anonymity", name))


def _judge(scene: Scene, requirement: KAnonymity, path: tuple[str, ...]) -> Iterator[Diagnostic]:
    if not requirement.attributes:
        having = any(a.role is Role.QUASI_IDENTIFIER for a in scene.policy.attributes.values())
        if not having and not scene.lacks("attributes"):
            yield scene.fault(
                "PPF525",
                "k-anonymity has no quasi-identifier to group by",
                path,
                at_key=True,
                hint="give an attribute `role: quasi_identifier`",
            )
        return
    place = (*path, "attributes")
    yield from repeats(scene, requirement.attributes, place, "`attributes`")
    yield from grouping(scene, requirement.attributes, place, "an attribute that k-anonymity groups by")


def _why(given: KAnonymity, required: KAnonymity, _between: ComparedPolicies) -> str:
    return f"one of {given.k} is one of {required.k} as well" if given.k > required.k else f"{given.k} rows in both"


ORDER = order_by_marks(KAnonymity, alike=None, groups=contained, why=_why, bounds=("k",))


AUDIT = requirement_audit(
    "k_anonymity", "ppdm_flow.requirements.k_anonymity.algorithm:KAnonymityAudit", asks=class_counts(passes=2)
)


def advice(failure: Failure) -> str:
    """Say what to do where it does not hold."""
    if failure.serving:
        return (
            f"{failure.who} works at it, and a later step changes its groups: add {LEAVING_OUT} as the last step before"
            f" the release, which leaves out the rows of small groups, or make {RECODING} that step."
        )
    names, released = failure.requirement.get("attributes", ()), failure.released
    coarse = [f"`{name}`" for name in names if _COARSE.intersection(released.get(name, ()))]
    text = (
        f"Add {RECODING} as the last step before the release: it makes values coarser only in the rows of small groups,"
        f" so that no column becomes `*` as a whole. Where few rows are in small groups, {LEAVING_OUT} leaves them out"
        " instead."
    )
    wider = f" Or take wider intervals or a higher level for {listed(coarse)}." if coarse else ""
    return f"{text}{wider} A quasi-identifier that the recipient can do without may be dropped."


def draft(facts: DraftFacts) -> Draft | None:
    """Let everybody hide among some others."""
    reason = f"Nobody can be told from fewer than {facts.people - 1} others by what others may know."
    return Draft(reason, {"k": facts.people}) if facts.quasi_identifiers else None


WORDING = Wording(
    label="k-anonymity",
    clause=lambda requirement: f"k ≥ {requirement['k']}",
    advice=advice,
    section="How many people share a combination",
    draft=draft,
)


SPEC = RequirementSpec(
    name="k_anonymity",
    requirement=KAnonymity,
    entries=Entries.ONCE,
    order="ppdm_flow.requirements.k_anonymity.spec:ORDER",
    audit=AUDIT,
    wording=WORDING,
    judge=judge,
    rank=10,
    foresees="ppdm_flow.requirements.k_anonymity.algorithm:foresee",
    aliases=("anonymity", "kanonymity"),
    holds_by_rows=lambda _entry: True,
)
