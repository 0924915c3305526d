"""The fields of the requirement in ``plan.json``."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from ppdm_flow.core.documents import about


class SupportFields(TypedDict, total=False):
    """Rows, or a share of each table's."""

    count: Annotated[int, Field(ge=1)]
    ratio: Annotated[float, Field(ge=0, le=1)]


class BlendFields(TypedDict):
    """What blending asks."""

    min_support: Annotated[
        SupportFields,
        Field(json_schema_extra={"minProperties": 1, "maxProperties": 1}),
        about("Below it a row is rare: `count` rows, or a `ratio` of each table's."),
    ]
    max: Annotated[float, Field(ge=0, le=1), about("The largest share of rare rows that are rare in the original.")]
