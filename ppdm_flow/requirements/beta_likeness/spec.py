"""The kind of requirement `beta_likeness`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.mining.classes.measures import measures
from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.policy.language.wording import Wording, larger_classes
from ppdm_flow.policy.rules import on_sensitive
from ppdm_flow.requirements.beta_likeness import requirement
from ppdm_flow.sdk.spec import Params, PluginSpec


class BetaLikenessParams(Params):
    """It has none: the requirement says it all."""


AUDIT = PluginSpec(
    info=PluginInfo.of_page(
        "audits/beta_likeness",
        Kind.AUDIT,
        figures=measures,
        serves=("beta_likeness",),
        asks=AccessRequirements(
            DataAccess.COUNTS, {"people": DataAccess.TABLE, "together": DataAccess.TABLE}, passes=2
        ),
    ),
    params=BetaLikenessParams,
    algorithm="ppdm_flow.requirements.beta_likeness.algorithm:BetaLikenessAudit",
)


def clause(requirement: Mapping[str, Any]) -> str:
    """Say what it bounds, and by what."""
    return f"β of {requirement['attribute']} ≤ {requirement['beta']:g}"


WORDING = Wording(label="β-likeness", clause=clause, advice=larger_classes, section="What can be inferred")


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
