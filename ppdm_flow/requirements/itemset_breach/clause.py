"""The entry of a policy for privacy breaches of sets."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.policy.language.model import LOWER, Clause, Probability

Share = Annotated[float, Field(gt=0.0, le=1.0)]
Shares = Annotated[tuple[Share, ...], Field(min_length=1)]
Length = Annotated[str, Field(pattern=r"^[1-9][0-9]{0,3}$")]
"""A number of items, from 1."""


class ItemsetBreach(Clause):
    """Items of an original set are not inferred from what was released in its place with more than ``level``.

    ``sizes``: of the itemsets that are looked for. ``max_supports``: the largest supports of itemsets of 1, 2, .. items
    among the sets of one length. ``pool``: lengths with fewer sets are judged together with their neighbours.
    """

    level: Annotated[Probability, LOWER]
    sizes: Annotated[tuple[Annotated[int, Field(ge=1, le=4)], ...], Field(min_length=1)] = (1, 2, 3)
    attribute: str | None = None
    max_supports: Shares | None = None
    max_supports_by_length: dict[Length, Shares] = Field(default_factory=dict)
    pool: Annotated[int, Field(ge=1)] = 1000
