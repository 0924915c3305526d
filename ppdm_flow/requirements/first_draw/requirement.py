"""First draw: a value that is randomized is randomized only once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar, Self

from pydantic import Field

from ppdm_flow.core.model import MORE
from ppdm_flow.core.requirement import NamePattern, Requirement


class FirstDraw(Requirement):
    """None of the randomized ``attributes`` has been released before, of any of the same people.

    Two independent draws multiply their likelihood ratios, so that an (r1, r2) bound on each is none on both.
    """

    kind: ClassVar[str] = "first_draw"
    successive: ClassVar[bool] = True
    waivable: ClassVar[bool] = False
    attributes: Annotated[tuple[str, ...], Field(description="The randomized attributes."), MORE]

    def on_columns(self, columns: NamePattern) -> Iterator[Self]:
        """Yield it with the columns that its names mean."""
        yield self.changed(attributes=columns.every(self.attributes, self))
