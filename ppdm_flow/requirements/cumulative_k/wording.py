"""What reports, plans and messages say of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ppdm_flow.policy.language.wording import Failure, Wording


def clause(requirement: Mapping[str, Any]) -> str:
    """Say what it bounds, and by what."""
    return f"k of all releases together ≥ {requirement['k']}"


def advice(_failure: Failure) -> str:
    """Say what to do where it does not hold."""
    return (
        "Form the classes as in the earlier releases, or coarser; release fewer quasi-identifiers; wait until more"
        " people have come or gone. What was released cannot be taken back."
    )


WORDING = Wording(label="Cumulative k-anonymity", clause=clause, advice=advice)
