"""t-closeness: a sensitive attribute is distributed in every class nearly as in the table."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, ClassVar, Self

from pydantic import Field

from ppdm_flow.core.model import LOWER, Absent, Texts
from ppdm_flow.core.requirement import ClauseBinding, NamedValue
from ppdm_flow.core.requirement_families import OnSensitive
from ppdm_flow.core.roles import AttributeType, ValuesAbsent

_DISTANCE = "`equal`: all values are equally far from each other. `ordered`: as far as there are ranks between them."
_ORDER = (
    "All values from low to high, for `distance: ordered`; of a text its `domain` where it is left out. Numbers and"
    " dates have an order of their own."
)


class Distance(StrEnum):
    """How far apart two sensitive values are: all equally, or by the ranks between them."""

    EQUAL = "equal"
    ORDERED = "ordered"


class TCloseness(OnSensitive):
    """A sensitive attribute is distributed in every class as in the whole release, within a distance of ``t``.

    That is the earth mover's distance. ``ordered``: a value moves by ranks, (values - 1) of them being 1. ``order`` are
    all values from low to high; empty: they are numbers or dates. Source: Li, Li, Venkatasubramanian, ICDE 2007.
    """

    kind: ClassVar[str] = "t_closeness"
    classes: ClassVar[str] = "ppdm_flow.requirements.t_closeness.algorithm:models"
    t: Annotated[float, Field(gt=0.0, description="The largest distance, between 0 and 1.", examples=["0.2"]), LOWER]
    distance: Annotated[Distance, Field(description=_DISTANCE, examples=["ordered"])] = Distance.EQUAL
    order: Annotated[Texts, Field(description=_ORDER, examples=[["low", "medium", "high"]])] = ()
    values_absent: Absent = ValuesAbsent.ERROR

    def bound(self, place: ClauseBinding) -> Self:
        """Return it at its place: values of a text are in the order of the domain unless it says another."""
        texts = (place.domain or ()) if place.type is AttributeType.TEXT else ()
        ordered = self.distance is Distance.ORDERED
        return super().bound(place).changed(order=(self.order or texts) if ordered else ())

    def named_values(self) -> Iterator[NamedValue]:
        """Yield the values that have ranks."""
        return ((self.attribute, value, self.span) for value in self.order)
