"""The kind of requirement `cumulative_k`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.requirement import Requirement
from ppdm_flow.core.roles import Role
from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.policy.language.models import Policy
from ppdm_flow.policy.language.wording import RECODING, Failure, Wording
from ppdm_flow.policy.loaded import ResolvedPlaces
from ppdm_flow.policy.order.frame import ComparedPolicies, PolicyFrame, by_role
from ppdm_flow.policy.order.marks import entry_itself, order_by_marks, wider
from ppdm_flow.policy.rules.grouping import grouped
from ppdm_flow.policy.rules.scene import Scene, entry_path
from ppdm_flow.policy.successive import subject_of
from ppdm_flow.requirements.cumulative_k.requirement import AUDIT, NO_EARLIER_RELEASE, CumulativeK


def judge(scene: Scene, entries: Mapping[str, CumulativeK]) -> Iterator[Diagnostic]:
    """Judge it (PPF590)."""
    policy = scene.policy
    alone = len(policy.releases) < 2 or policy.recipients == "apart"
    for name, clause in entries.items():
        path = entry_path("cumulative_k", name)
        yield from grouped(scene, clause.attributes, path)
        if policy.ledger is None and alone and not scene.lacks("ledger") and not scene.lacks("releases"):
            text = (
                "`cumulative_k` is about several releases: nobody sees two of this run, and no ledger remembers others"
            )
            yield scene.fault("PPF590", text, path, at_key=True, hint="add `ledger: {path: releases.ledger}`")


# Groups of people over several releases: comparable only within one history.


def says(requirement: CumulativeK, frame: PolicyFrame) -> Iterator[Requirement]:
    """Yield what cumulative k claims: quasi-identifiers count in any case."""
    attributes = (*requirement.attributes, *by_role(frame.having(Role.QUASI_IDENTIFIER)))
    return entry_itself(requirement.changed(attributes=attributes), frame)


def _why(given: CumulativeK, required: CumulativeK, between: ComparedPolicies) -> str:
    where = "beside the same releases" if between.asked.policy.ledger is None else "in the same ledger"
    return f"groups of {given.k} people are groups of {required.k}, {where}"


ORDER = order_by_marks(
    CumulativeK, alike=lambda _given, _required, between: between.one_history, groups=wider, why=_why, says=says
)


def advice(failure: Failure) -> str:
    """Say what to do where it does not hold."""
    if not str(failure.result.get("sentence", "")).startswith(NO_EARLIER_RELEASE):
        return (
            "Form the classes by the same steps as the earlier releases, such as `generalize` with the same rules, or"
            " show fewer quasi-identifiers. Else it is for the owner of the policy to decide: hand out the earlier"
            " release again, wait until more people have come or gone, or release, under a ledger of its own, to"
            " people who cannot have the earlier files. What was released cannot be taken back."
        )
    if failure.several_rows:
        return (
            "The rows of a person are in classes of which few other people have just the same. Let a person have one"
            " row before the steps that make classes: add `people: {use: one_row_each}`, whose `attributes` say how"
            " several cells become one, or `rows: {use: limit_rows, with: {rows: 1}}`, which draws a row."
        )
    k = failure.result.get("bound", failure.requirement.get("k", "K"))
    asked = f"`k_anonymity: {{k: {k:g}}}`" if isinstance(k, float | int) else "`k_anonymity`"
    return (
        f"No release has gone before, so the classes of this one are too small: ask for {asked} under `privacy:`, which"
        f" steps can work towards, and let {RECODING} be the last step before the release."
    )


WORDING = Wording(
    label="Cumulative k-anonymity",
    clause=lambda requirement: f"k of all releases together ≥ {requirement['k']}",
    advice=advice,
)


def implied(policy: Policy, _others: Sequence[Requirement], places: ResolvedPlaces) -> Iterator[Requirement]:
    """Yield the largest k of k-anonymity where a ledger knows people and the policy asks for no cumulative k."""
    if policy.privacy.entries("cumulative_k") or subject_of(policy) is None:
        return
    every = tuple(n for n, a in policy.attributes.items() if a.role is Role.QUASI_IDENTIFIER)
    usual = policy.privacy.entries("k_anonymity").values()
    if usual:
        names = tuple(dict.fromkeys(name for clause in usual for name in clause.attributes or every))
        span = places.key("privacy", "k_anonymity")
        yield CumulativeK.of("privacy.cumulative_k", span=span, k=max(clause.k for clause in usual), attributes=names)


SPEC = RequirementSpec(
    name="cumulative_k",
    requirement=CumulativeK,
    entries=Entries.ONCE,
    order="ppdm_flow.requirements.cumulative_k.spec:ORDER",
    audit=AUDIT,
    wording=WORDING,
    judge=judge,
    implied=implied,
    rank=150,
    needs_people=True,
    implied_by="k_anonymity",
)
