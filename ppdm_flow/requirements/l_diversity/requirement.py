"""l-diversity: every class has several well-represented sensitive values."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, ClassVar

from pydantic import Field

from ppdm_flow.core.model import HIGHER, LOWER
from ppdm_flow.core.requirement_families import OnSensitive

_L = "The least number of values, or of equally frequent ones that would be as uncertain."
_VARIANT = (
    "`distinct` counts values; `entropy`: e to the entropy is at least l; `recursive`: the most frequent value has"
    " fewer rows than `c` times all from the l-th most frequent on."
)


class Diversity(StrEnum):
    """How the sensitive values of a class are counted."""

    DISTINCT = "distinct"
    ENTROPY = "entropy"
    RECURSIVE = "recursive"


class LDiversity(OnSensitive):
    """Every class has at least ``l`` values of a sensitive attribute that are well represented, as ``kind`` counts.

    ``distinct``: so many values. ``entropy``: exp of the entropy is at least l. ``recursive``: r_1 < c (r_l + … + r_m)
    for the counts in descending order. Source: Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam, ACM TKDD 1(1), 2007.
    """

    kind: ClassVar[str] = "l_diversity"
    classes: ClassVar[str] = "ppdm_flow.requirements.l_diversity.algorithm:models"
    hides_people: ClassVar[bool] = True
    l: Annotated[float, Field(gt=1.0, description=_L, examples=["3"]), HIGHER]  # noqa: E741  # the model's own letter
    variant: Annotated[Diversity, Field(alias="kind", description=_VARIANT, examples=["entropy"])] = Diversity.DISTINCT
    c: Annotated[
        Annotated[float, Field(gt=0.0)] | None,
        Field(description="The c of `kind: recursive`.", examples=["3"]),
        LOWER,
    ] = None
