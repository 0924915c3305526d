"""Privacy breaches of randomized sets: how far a released set raises the belief in an item of its original."""

from __future__ import annotations

from typing import Annotated, ClassVar, Self

from pydantic import Field

from ppdm_flow.core.model import LOWER, MORE, Fixed, FixedMap, Probability
from ppdm_flow.core.requirement import ClauseBinding
from ppdm_flow.core.requirement_families import OnSets

Share = Annotated[float, Field(gt=0.0, le=1.0)]
Shares = Annotated[tuple[Share, ...], Field(min_length=1)]
Length = Annotated[str, Field(pattern=r"^[1-9][0-9]{0,3}$")]
"""A number of items, from 1."""
_LEVEL = "The highest probability with which an item may be inferred."
_SIZES = "How many items the itemsets have that somebody may look for, 1 to 4."
_SUPPORTS = "Largest supports of itemsets of 1, 2, … items, as shares of the sets of one length; left out: the data's."
_BY_LENGTH = "Largest supports among sets of that many items, in place of `max_supports`."
_POOL = "Lengths of which there are fewer sets are judged together with the next ones."


class ItemsetBreach(OnSets):
    """Items of an original set are not inferred from what was released in its place with more than ``level``.

    For every itemset A of so many items as ``sizes`` say, and every item z, in A or not: Pr[z in t | A in t'] is at
    most ``level``, for original sets t and what was released in their place t'. ``max_supports``: the largest supports
    of itemsets of 1, 2, .. items that anyone has to reckon with, among the sets of one length. ``pool``: lengths with
    fewer sets are judged together with their neighbours. Source: Evfimievski, Srikant, Agrawal, Gehrke, KDD 2002,
    section 4.2.
    """

    kind: ClassVar[str] = "itemset_breach"
    needs_operator: ClassVar[bool] = True
    level: Annotated[Probability, Field(description=_LEVEL, examples=["0.5"]), LOWER]
    sizes: Annotated[
        tuple[Annotated[int, Field(ge=1, le=4)], ...],
        Field(min_length=1, description=_SIZES, examples=[["1", "2", "3"]]),
        MORE,
    ] = (1, 2, 3)
    max_supports: Annotated[Shares, Field(description=_SUPPORTS, examples=[["0.05", "0.01", "0.002"]])] = ()
    max_supports_by_length: Annotated[dict[Length, Shares], Fixed] = Field(
        default_factory=FixedMap, description=_BY_LENGTH, examples=[{"1": ["0.1"], "2": ["0.2", "0.05"]}]
    )
    pool: Annotated[int, Field(ge=1, description=_POOL, examples=["1000"])] = 1000

    def bound(self, place: ClauseBinding) -> Self:
        """Return it at its place, with each size once."""
        return super().bound(place).changed(sizes=tuple(sorted(set(self.sizes))))

    def declared(self, length: int) -> tuple[float, ...]:
        """Return the maximal supports that the policy gives for sets of ``length`` items; empty where it gives none."""
        return self.max_supports_by_length.get(str(length), self.max_supports)
