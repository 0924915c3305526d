"""What reports, plans and messages say of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ppdm_flow.policy.language.wording import Failure, Wording


def clause(requirement: Mapping[str, Any]) -> str:
    """Say what it bounds, and by what."""
    return f"k in the population ≥ {requirement['k']}"


def advice(_failure: Failure) -> str:
    """Say what to do where it does not hold."""
    return (
        "Make the classes larger: generalize or drop quasi-identifiers. Where classes fit nobody, the population file"
        " lacks people, or its values are written otherwise than the source's."
    )


WORDING = Wording(label="k-map", clause=clause, advice=advice, section="How many people share a combination")
