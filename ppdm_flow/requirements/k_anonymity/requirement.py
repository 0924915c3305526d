"""k-anonymity: everybody is one of at least k."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from ppdm_flow.core.requirement import Columns, NameOf, Requirement, reaching
from ppdm_flow.core.spans import Span


@dataclass(frozen=True, slots=True)
class KAnonymity(Requirement):
    """Every equivalence class over the quasi-identifiers has at least ``k`` rows."""

    kind: ClassVar[str] = "k_anonymity"
    on_groups: ClassVar[bool] = True
    hides_people: ClassVar[bool] = True
    classes: ClassVar[str] = "ppdm_flow.requirements.k_anonymity.classes:models"
    id: str
    k: int
    attributes: tuple[str, ...]
    span: Span | None = field(default=None, compare=False)
    releases: tuple[str, ...] = ()

    @property
    def grouping(self) -> tuple[str, ...]:
        """The attributes that form the classes."""
        return self.attributes

    @property
    def counts_rows(self) -> bool:
        """Whether a group has to have so many rows."""
        return True

    @property
    def class_claim(self) -> str:
        """What a class does."""
        return f"has at least {self.k} rows"

    def on_columns(self, columns: Columns) -> Iterator[KAnonymity]:
        """Yield it with the columns that its names mean."""
        yield replace(self, attributes=columns.every(self.attributes, self))

    def renamed(self, name_of: NameOf) -> KAnonymity:
        """Return it in present names."""
        return replace(self, attributes=reaching(self.attributes, name_of))

    def document(self) -> dict[str, Any]:
        """Return what it asks."""
        return {"k": self.k, "attributes": list(self.attributes)}
