"""The kind of requirement `anonymity_score`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ppdm_flow.core.attributes import Change
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.policy.language.wording import Failure, Wording
from ppdm_flow.policy.order.marks import order_by_marks
from ppdm_flow.policy.rules.scene import Scene, entry_path
from ppdm_flow.requirements.anonymity_score.requirement import AUDIT, AnonymityScore


def judge(scene: Scene, entries: Mapping[str, AnonymityScore]) -> Iterator[Diagnostic]:
    """Judge it (PPF582)."""
    for name, clause in entries.items():
        path = entry_path("anonymity_score", name)
        if clause.max >= 1.0:
            text = "`anonymity_score` with `max: 1` holds of any data"
            yield scene.fault("PPF582", text, (*path, "max"), hint="give a bound below 1")


ORDER = order_by_marks(AnonymityScore, alike=lambda _given, _required, between: between.same_rows)


def advice(failure: Failure) -> str:
    """Say what to do where it does not hold."""
    if failure.serving:
        return (
            f"{failure.who} makes the rows: with a higher `min_support` its model holds only what more people have"
            " in common, and fewer original rows come out again."
        )
    return "No step makes new rows: add a generator, such as `krimp_generator`, before the release."


WORDING = Wording(
    label="Anonymity score",
    clause=lambda requirement: f"NAS ≤ {requirement['max']:g}",
    advice=advice,
    section="Original rows in the release",
)


SPEC = RequirementSpec(
    name="anonymity_score",
    requirement=AnonymityScore,
    entries=Entries.ONCE,
    order="ppdm_flow.requirements.anonymity_score.spec:ORDER",
    audit=AUDIT,
    wording=WORDING,
    judge=judge,
    rank=40,
    aliases=("nas",),
    measured_on=Change.GENERATED,
)
