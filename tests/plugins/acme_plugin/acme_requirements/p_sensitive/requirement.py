"""p-sensitive k-anonymity: everybody is one of at least k, among whom each sensitive attribute has at least p values."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

from ppdm_flow.core.requirement import Requirement, reaching
from ppdm_flow.core.spans import Span


@dataclass(frozen=True, slots=True)
class PSensitive(Requirement):
    """Every class over ``attributes`` has at least ``k`` rows, and ``p`` values of each ``sensitive`` attribute."""

    kind: ClassVar[str] = "acme_p_sensitive"
    on_groups: ClassVar[bool] = True
    hides_people: ClassVar[bool] = True
    counts_values: ClassVar[bool] = True
    classes: ClassVar[str] = "acme_requirements.p_sensitive.classes:models"
    id: str
    p: int
    k: int
    sensitive: tuple[str, ...]
    attributes: tuple[str, ...]
    span: Span | None = field(default=None, compare=False)
    releases: tuple[str, ...] = ()

    @property
    def grouping(self):
        return self.attributes

    @property
    def secrets(self):
        return self.sensitive

    @property
    def counts_rows(self):
        return True

    def is_absent_from(self, sources):
        """Classes have to be large even where no sensitive attribute is released."""
        return False

    def on_columns(self, columns):
        yield replace(
            self, attributes=columns.every(self.attributes, self), sensitive=columns.every(self.sensitive, self)
        )

    @property
    def class_claim(self):
        return f"has at least {self.k} rows, and {self.p} values of each of {', '.join(self.sensitive)}"

    def renamed(self, name_of):
        """Return it in the names that attributes have where a step reads them."""
        return replace(
            self, attributes=reaching(self.attributes, name_of), sensitive=reaching(self.sensitive, name_of)
        )

    def document(self):
        return {"p": self.p, "k": self.k, "sensitive": list(self.sensitive), "attributes": list(self.attributes)}
