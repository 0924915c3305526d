"""The kind of requirement `acme_rare_words`."""

from __future__ import annotations

from acme_requirements.rare_words import audit, requirement
from acme_requirements.rare_words.problems import judge
from acme_requirements.rare_words.wording import WORDING

from ppdm_flow.plugins import Entries, RequirementSpec

SPEC = RequirementSpec(
    name="acme_rare_words",
    requirement=requirement.RareWords,
    entries=Entries.BY_ATTRIBUTE,
    audit=audit.SPEC,
    wording=WORDING,
    judge=judge,
    page="acme_requirements.rare_words:page.md",
)
