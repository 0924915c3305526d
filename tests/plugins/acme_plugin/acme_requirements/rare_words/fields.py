"""The fields of the requirement in ``plan.json``."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict


class RareWordsFields(TypedDict):
    """What the bound on rare words asks."""

    attribute: str
    max: Annotated[float, Field(ge=0, le=1)]
    min_count: Annotated[int, Field(ge=2)]
