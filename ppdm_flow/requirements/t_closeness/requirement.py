"""t-closeness: sensitive values are distributed in every class as in the table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar

from ppdm_flow.core.requirement import NamedValue, OnSensitive, absent
from ppdm_flow.core.roles import ValuesAbsent
from ppdm_flow.core.spans import Span


class Distance(StrEnum):
    """How far apart two sensitive values are: all equally, or by the ranks between them."""

    EQUAL = "equal"
    ORDERED = "ordered"


@dataclass(frozen=True, slots=True)
class TCloseness(OnSensitive):
    """The values of ``attribute`` are distributed in every class as in the table, within an earth mover's distance.

    ``ordered``: a value moves by ranks, (values - 1) of them being 1. ``order`` are all values from low to high; empty:
    they are numbers or dates. Source: Li, Li, Venkatasubramanian, ICDE 2007.
    """

    kind: ClassVar[str] = "t_closeness"
    classes: ClassVar[str] = "ppdm_flow.requirements.t_closeness.classes:models"
    id: str
    attribute: str
    t: float
    attributes: tuple[str, ...]
    distance: Distance = Distance.EQUAL
    order: tuple[str, ...] = ()
    span: Span | None = field(default=None, compare=False)
    values_absent: ValuesAbsent = ValuesAbsent.ERROR
    releases: tuple[str, ...] = ()

    def named_values(self) -> Iterator[NamedValue]:
        """Yield the values that have ranks."""
        return ((self.attribute, value, self.span) for value in self.order)

    def bounds(self) -> dict[str, Any]:
        """Return its figures."""
        return {
            "t": self.t,
            "distance": self.distance.value,
            **({"order": list(self.order)} if self.order else {}),
            **absent(self.values_absent),
        }
