"""The fields of the requirement in ``plan.json``."""

from __future__ import annotations

from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from ppdm_flow.core.roles import Directions, ValuesAbsent


class ValueBoundFields(TypedDict):
    """(r1, r2) of a value."""

    value: Annotated[str, Field(description="The value.")]
    r1: float
    r2: float
    given: NotRequired[Annotated[str, Field(description="What else is known of the people whom r1 is about.")]]
    group: NotRequired[Annotated[str, Field(description="The group that the bound comes from.")]]


class SensitivityFields(TypedDict):
    """What (r1, r2) of an attribute ask."""

    attribute: Annotated[str, Field(description="The sensitive attribute.")]
    directions: Annotated[
        str,
        Field(json_schema_extra={"enum": [word.value for word in Directions]}),
        Field(description="Which breaches are forbidden."),
    ]
    values: Annotated[list[ValueBoundFields], Field(description="(r1, r2) by value.")]
    tolerance: Annotated[float | None, Field(description="theta of other values: r1 = frequency, r2 = theta r1.")]
    default: Annotated[
        Annotated[list[float], Field(min_length=2, max_length=2)] | None, Field(description="(r1, r2) of other values.")
    ]
    values_absent: NotRequired[Annotated[str, Field(json_schema_extra={"const": ValuesAbsent.ALLOWED.value})]]
