"""k-anonymity: everybody is one of at least k."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from ppdm_flow.core.requirement import OnPeople
from ppdm_flow.core.spans import Span


@dataclass(frozen=True, slots=True)
class KAnonymity(OnPeople):
    """Every equivalence class over the quasi-identifiers has at least ``k`` rows."""

    kind: ClassVar[str] = "k_anonymity"
    classes: ClassVar[str] = "ppdm_flow.requirements.k_anonymity.classes:models"
    id: str
    k: int
    attributes: tuple[str, ...]
    span: Span | None = field(default=None, compare=False)
    releases: tuple[str, ...] = ()

    @property
    def class_claim(self) -> str:
        """What a class does."""
        return f"has at least {self.k} rows"

    def document(self) -> dict[str, Any]:
        """Return what it asks."""
        return {"k": self.k, "attributes": list(self.attributes)}
