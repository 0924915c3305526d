"""beta-likeness: no sensitive value is much more frequent in a class than in the table."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from ppdm_flow.core.requirement import OnSensitive
from ppdm_flow.core.spans import Span


@dataclass(frozen=True, slots=True)
class BetaLikeness(OnSensitive):
    """No value's share in a class exceeds its share in the table by more than ``beta`` times the latter.

    Source: Cao, Karras, PVLDB 5(11), 2012, basic beta-likeness.
    """

    kind: ClassVar[str] = "beta_likeness"
    classes: ClassVar[str] = "ppdm_flow.requirements.beta_likeness.classes:models"
    id: str
    attribute: str
    beta: float
    attributes: tuple[str, ...]
    span: Span | None = field(default=None, compare=False)
    releases: tuple[str, ...] = ()

    def bounds(self) -> dict[str, Any]:
        """Return its figures."""
        return {"beta": self.beta}
