"""The kind of requirement `acme_p_sensitive`."""

from __future__ import annotations

from acme_requirements.p_sensitive import audit, requirement
from acme_requirements.p_sensitive.problems import judge
from acme_requirements.p_sensitive.wording import WORDING

from ppdm_flow.plugins import Entries, RequirementSpec

SPEC = RequirementSpec(
    name="acme_p_sensitive",
    requirement=requirement.PSensitive,
    entries=Entries.ONCE,
    order="acme_requirements.p_sensitive.order:ORDER",
    audit=audit.SPEC,
    wording=WORDING,
    judge=judge,
    page="acme_requirements.p_sensitive:page.md",
    foresees="acme_requirements.p_sensitive.foreseen:foresee",
)
