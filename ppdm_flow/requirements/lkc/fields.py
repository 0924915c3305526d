"""The fields of the requirement in ``plan.json``."""

from __future__ import annotations

from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from ppdm_flow.core.documents import about
from ppdm_flow.core.requirement_fields import Absent, Pair


class LKCFields(TypedDict):
    """What LKC-privacy asks."""

    l: Annotated[int, Field(ge=1), about("How many attributes may be known.")]  # noqa: E741  # the model's own letter
    k: Annotated[int, Field(ge=1)]
    attributes: Annotated[list[str], about("What may be known.")]
    sensitive: Annotated[list[Pair], about("(attribute, value), not to be inferred.")]
    c: NotRequired[float]
    values_absent: NotRequired[Absent]
