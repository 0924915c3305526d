"""The fields of the requirement in ``plan.json``."""

from __future__ import annotations

from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from ppdm_flow.core.documents import about

Supports = Annotated[list[Annotated[float, Field(gt=0, le=1)]], Field(min_length=1)]


class ItemsetBreachFields(TypedDict):
    """What a bound on breaches of randomized sets asks."""

    attribute: Annotated[str, about("The attribute with the sets.")]
    level: Annotated[float, about("The highest probability with which an item may be inferred.")]
    sizes: Annotated[list[int], about("How many items itemsets have.")]
    pool: Annotated[int, Field(ge=1), about("Lengths with fewer sets are judged together.")]
    max_supports: NotRequired[Annotated[Supports, about("The largest supports of itemsets of 1, 2, … items.")]]
    max_supports_by_length: NotRequired[Annotated[dict[str, Supports], about("Others for sets of some lengths.")]]
