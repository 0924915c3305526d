"""k-anonymity of every class."""

from __future__ import annotations

from ppdm_flow.mining.recoding.models import KAnonymous, SensitiveColumns
from ppdm_flow.requirements.k_anonymity.requirement import KAnonymity


def models(requirement: KAnonymity, _columns: SensitiveColumns) -> list[KAnonymous]:
    """Return what a class must keep."""
    return [KAnonymous(requirement.k)]
