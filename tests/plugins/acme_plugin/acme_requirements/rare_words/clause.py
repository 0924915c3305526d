"""The entry of a policy. What a field says of itself is what editors and `explain` show."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.policy.language.model import HIGHER, LOWER, Clause


class RareWords(Clause):
    """Few released texts have words that only few rows of the original have."""

    max: Annotated[
        float,
        Field(ge=0.0, le=1.0, description="The largest share of released cells with a rare word.", examples=[0.01]),
        LOWER,
    ]
    min_count: Annotated[
        int, Field(ge=2, description="A word of fewer rows of the original than this is rare.", examples=[5]), HIGHER
    ] = 3
