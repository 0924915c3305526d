"""The kind of requirement `beta_likeness`."""

from __future__ import annotations

from ppdm_flow.core.asks import class_counts
from ppdm_flow.mining.classes.measures import measures
from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.policy.language.wording import Wording, larger_classes
from ppdm_flow.policy.rules import on_sensitive
from ppdm_flow.requirements.beta_likeness import requirement
from ppdm_flow.sdk.spec import requirement_audit

AUDIT = requirement_audit(
    "beta_likeness",
    "ppdm_flow.requirements.beta_likeness.algorithm:BetaLikenessAudit",
    figures=measures,
    asks=class_counts(passes=2),
)


WORDING = Wording(
    label="β-likeness",
    clause=lambda requirement: f"β of {requirement['attribute']} ≤ {requirement['beta']:g}",
    advice=larger_classes,
    section="What can be inferred",
)


SPEC = RequirementSpec(
    name="beta_likeness",
    requirement=requirement.BetaLikeness,
    entries=Entries.BY_ATTRIBUTE,
    order="ppdm_flow.requirements.beta_likeness.order:ORDER",
    audit=AUDIT,
    wording=WORDING,
    judge=lambda scene, entries: on_sensitive.judge(scene, "beta_likeness", entries),
    rank=110,
)
