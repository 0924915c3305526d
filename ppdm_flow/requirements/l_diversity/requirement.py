"""l-diversity: sensitive values of every class are well represented."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar

from ppdm_flow.core.requirement import OnSensitive
from ppdm_flow.core.spans import Span


class Diversity(StrEnum):
    """How the sensitive values of a class are counted."""

    DISTINCT = "distinct"
    ENTROPY = "entropy"
    RECURSIVE = "recursive"


@dataclass(frozen=True, slots=True)
class LDiversity(OnSensitive):
    """Every class has at least ``l`` well-represented values of ``attribute``.

    ``distinct``: so many values. ``entropy``: exp of the entropy is at least l. ``recursive``: r_1 < c (r_l + … + r_m)
    for the counts in descending order. Source: Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam, ACM TKDD 1(1), 2007.
    """

    kind: ClassVar[str] = "l_diversity"
    classes: ClassVar[str] = "ppdm_flow.requirements.l_diversity.classes:models"
    hides_people: ClassVar[bool] = True
    id: str
    attribute: str
    l: float  # noqa: E741  # the model's own letter
    attributes: tuple[str, ...]
    variant: Diversity = Diversity.DISTINCT
    c: float | None = None
    span: Span | None = field(default=None, compare=False)
    releases: tuple[str, ...] = ()

    def bounds(self) -> dict[str, Any]:
        """Return its figures."""
        return {"l": self.l, "variant": self.variant.value} | ({} if self.c is None else {"c": self.c})
