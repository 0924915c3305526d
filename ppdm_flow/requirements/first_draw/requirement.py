"""What was randomized is not randomized again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from ppdm_flow.core.requirement import Columns, Requirement
from ppdm_flow.core.spans import Span


@dataclass(frozen=True, slots=True)
class FirstDraw(Requirement):
    """None of the randomized ``attributes`` has been released before, of any of the same people.

    Two independent draws multiply their likelihood ratios, so that an (r1, r2) bound on each is none on both.
    """

    kind: ClassVar[str] = "first_draw"
    successive: ClassVar[bool] = True
    waivable: ClassVar[bool] = False
    id: str
    attributes: tuple[str, ...]
    span: Span | None = field(default=None, compare=False)
    releases: tuple[str, ...] = ()

    def on_columns(self, columns: Columns) -> Iterator[FirstDraw]:
        """Yield it with the columns that its names mean."""
        yield replace(self, attributes=columns.every(self.attributes, self))

    def document(self) -> dict[str, Any]:
        """Return what it asks."""
        return {"attributes": list(self.attributes)}
