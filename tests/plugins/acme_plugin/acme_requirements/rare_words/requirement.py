"""A requirement that is not about classes: few released texts have words that only few people wrote."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

from ppdm_flow.core.requirement import OnAttribute
from ppdm_flow.core.spans import Span


@dataclass(frozen=True, slots=True)
class RareWords(OnAttribute):
    """At most the share ``max`` of the released cells of ``attribute`` has a rare word.

    A word is rare if it occurs in the original, and in fewer than ``min_count`` of its rows. Words stand between
    blanks, and count as they are written.
    """

    kind: ClassVar[str] = "acme_rare_words"
    counts_values: ClassVar[bool] = True
    id: str
    attribute: str
    max: float
    min_count: int
    span: Span | None = field(default=None, compare=False)
    releases: tuple[str, ...] = ()

    def on_columns(self, columns):
        for name in columns.each(self):
            yield replace(self, id=self.id if name == self.attribute else f"privacy.{self.kind}.{name}", attribute=name)

    def document(self):
        return {"attribute": self.attribute, "max": self.max, "min_count": self.min_count}
