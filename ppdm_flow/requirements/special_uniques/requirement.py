"""Special uniques: few people are singled out by few attributes."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from ppdm_flow.core.model import HIGHER, LOWER
from ppdm_flow.core.requirement_families import OnClasses

_SIZE = "How many attributes of a person somebody may know, 1 to 5; all of them where there are fewer."
_SHARE = "The largest share of the released rows, or people, that so many attributes may single out."


class FewUniques(OnClasses):
    """At most a share ``max_share`` of the released rows is unique by some ``size`` of the ``attributes``.

    Source: Elliot, Manning, Ford, IJUFKS 10(5), 2002.
    """

    kind: ClassVar[str] = "special_uniques"
    on_groups: ClassVar[bool] = True
    of_all_files: ClassVar[bool] = True
    counts_people: ClassVar[bool] = True
    size: Annotated[int, Field(ge=1, le=5, description=_SIZE, examples=["3"]), HIGHER] = 3
    max_share: Annotated[float, Field(ge=0.0, lt=1.0, description=_SHARE, examples=["0.01"]), LOWER] = 0.0

    @property
    def groups_are_classes(self) -> bool:
        """Whether all attributes may be known at once."""
        return self.size >= len(self.attributes)
