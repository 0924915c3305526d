"""The kind of requirement `k_anonymity`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ppdm_flow.core.asks import class_counts
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.roles import Role
from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.policy.language.wording import Draft, DraftFacts, Failure, Wording, listed
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
    return f"whoever is among {given.k} is among {required.k}" if given.k > required.k else f"{given.k} rows in both"


ORDER = order_by_marks(KAnonymity, alike=None, groups=contained, why=_why, bounds=("k",))


AUDIT = requirement_audit(
    "k_anonymity", "ppdm_flow.requirements.k_anonymity.algorithm:KAnonymityAudit", asks=class_counts(passes=2)
)


def advice(failure: Failure) -> str:
    """Say what to do where it does not hold."""
    names, released = failure.requirement.get("attributes", ()), failure.released
    uncoarsened = [f"`{name}`" for name in names if name in released and not _COARSE.intersection(released[name])]
    coarse = [f"`{name}`" for name in names if _COARSE.intersection(released.get(name, ()))]
    levers = []
    if uncoarsened:
        levers.append(
            f"make {listed(uncoarsened)} coarser with `generalize`, or `drop` what the recipient can do without"
        )
    if coarse:
        levers.append(f"take a higher level or wider intervals for {listed(coarse)}")
    said = "; ".join(levers) or "generalize or drop quasi-identifiers"
    return f"{said[:1].upper()}{said[1:]}. The fewer combinations are left, the larger each group."


def draft(facts: DraftFacts) -> Draft | None:
    """Let everybody hide among some others."""
    reason = f"Nobody is told from fewer than {facts.people - 1} others by what others may know."
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
