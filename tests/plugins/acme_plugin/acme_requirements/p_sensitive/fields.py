"""The fields of the requirement in ``plan.json``."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict


class PSensitiveFields(TypedDict):
    """What p-sensitive k-anonymity asks."""

    p: Annotated[int, Field(ge=2)]
    k: Annotated[int, Field(ge=2)]
    sensitive: list[str]
    attributes: list[str]
