"""What reports, plans and messages say of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ppdm_flow.policy.language.wording import Failure, Wording


def clause(requirement: Mapping[str, Any]) -> str:
    """Say what it bounds, and by what."""
    return f"first draw of {', '.join(requirement['attributes'])}"


def advice(_failure: Failure) -> str:
    """Say what to do where it does not hold."""
    return "Hand out the earlier release again: another draw tells more. Or leave the randomized attributes out."


WORDING = Wording(label="Repeated randomization", clause=clause, advice=advice)
