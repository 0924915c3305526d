"""The Normalised Anonymity Score of the released rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from ppdm_flow.core.requirement import Requirement
from ppdm_flow.core.spans import Span


@dataclass(frozen=True, slots=True)
class AnonymityScore(Requirement):
    """The Normalised Anonymity Score of the released rows is at most ``maximum``, in [0, 1).

    Source: Vreeken, van Leeuwen, Siebes, ICDM 2007.
    """

    kind: ClassVar[str] = "anonymity_score"
    counts_whole_rows: ClassVar[bool] = True
    id: str
    maximum: float
    span: Span | None = field(default=None, compare=False)
    releases: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        """Return what it asks."""
        return {"max": self.maximum}
