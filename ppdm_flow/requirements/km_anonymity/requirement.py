"""k^m-anonymity: an adversary who knows up to m items of a set finds at least k sets."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from ppdm_flow.core.model import HIGHER
from ppdm_flow.core.requirement_families import OnSets

_K = "The least number of sets, or of people who have one, that a combination of items is in, unless in none."
_M = "How many items of a person's set somebody may know, 1 to 4."


class KmAnonymity(OnSets):
    """Every combination of at most ``m`` items that occurs is in at least ``k`` sets.

    Source: Terrovitis, Mamoulis, Kalnis, PVLDB 1(1), 2008.
    """

    kind: ClassVar[str] = "km_anonymity"
    counts_values: ClassVar[bool] = True
    counts_people: ClassVar[bool] = True
    k: Annotated[int, Field(ge=2, description=_K, examples=["5"]), HIGHER]
    m: Annotated[int, Field(ge=1, le=4, description=_M, examples=["2"]), HIGHER] = 2

    @property
    def counts_rows(self) -> bool:
        """Whether a group has to have so many rows."""
        return True
