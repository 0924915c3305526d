"""delta-disclosure: shares in classes are near those in the table."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from ppdm_flow.core.requirement import OnSensitive
from ppdm_flow.core.spans import Span


@dataclass(frozen=True, slots=True)
class DeltaDisclosure(OnSensitive):
    """|ln(share in the class / share in the table)| is at most ``delta`` for every value of ``attribute``.

    A value of the table that a class lacks breaks it. Source: Brickell, Shmatikov, KDD 2008.
    """

    kind: ClassVar[str] = "delta_disclosure"
    classes: ClassVar[str] = "ppdm_flow.requirements.delta_disclosure.classes:models"
    id: str
    attribute: str
    delta: float
    attributes: tuple[str, ...]
    span: Span | None = field(default=None, compare=False)
    releases: tuple[str, ...] = ()

    def bounds(self) -> dict[str, Any]:
        """Return its figures."""
        return {"delta": self.delta}
