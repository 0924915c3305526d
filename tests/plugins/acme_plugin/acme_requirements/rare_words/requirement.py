"""Rare words: few released texts have words that only few people wrote."""

from typing import Annotated, ClassVar

from pydantic import Field

from ppdm_flow.plugins import HIGHER, LOWER, OnAttribute


class RareWords(OnAttribute):
    """At most the share ``max`` of the released cells has a word that only few rows of the original have.

    A word is rare if it occurs in the original, and in fewer than ``min_count`` of its rows. Words stand between
    blanks, and count as they are written.
    """

    kind: ClassVar[str] = "acme_rare_words"
    counts_values: ClassVar[bool] = True
    max: Annotated[
        float,
        Field(ge=0.0, le=1.0, description="The largest share of released cells with a rare word.", examples=[0.01]),
        LOWER,
    ]
    min_count: Annotated[
        int, Field(ge=2, description="A word of fewer rows of the original than this is rare.", examples=[5]), HIGHER
    ] = 3
