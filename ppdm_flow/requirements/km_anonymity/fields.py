"""The fields of the requirement in ``plan.json``."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict


class KmAnonymityFields(TypedDict):
    """What k^m-anonymity asks."""

    attribute: str
    k: Annotated[int, Field(ge=1)]
    m: Annotated[int, Field(ge=1)]
