"""The kind of requirement `delta_disclosure`."""

from __future__ import annotations

from ppdm_flow.core.asks import class_counts
from ppdm_flow.mining.classes.measures import measures
from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.policy.language.wording import Wording, larger_classes
from ppdm_flow.policy.order.classes import unions
from ppdm_flow.policy.order.marks import order_by_marks
from ppdm_flow.policy.rules import on_sensitive
from ppdm_flow.requirements.delta_disclosure.requirement import DeltaDisclosure
from ppdm_flow.sdk.spec import requirement_audit

ORDER = order_by_marks(DeltaDisclosure, groups=unions, alike=None, bounds=("delta",))


AUDIT = requirement_audit(
    "delta_disclosure",
    "ppdm_flow.requirements.delta_disclosure.algorithm:DeltaDisclosureAudit",
    figures=measures,
    asks=class_counts(passes=2),
)


WORDING = Wording(
    label="δ-disclosure",
    clause=lambda requirement: f"δ of {requirement['attribute']} ≤ {requirement['delta']:g}",
    advice=larger_classes,
    section="What can be inferred",
)


SPEC = RequirementSpec(
    name="delta_disclosure",
    requirement=DeltaDisclosure,
    entries=Entries.BY_ATTRIBUTE,
    order="ppdm_flow.requirements.delta_disclosure.spec:ORDER",
    audit=AUDIT,
    wording=WORDING,
    judge=lambda scene, entries: on_sensitive.judge(scene, "delta_disclosure", entries),
    rank=100,
)
