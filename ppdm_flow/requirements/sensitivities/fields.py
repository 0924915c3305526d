"""The fields of the requirement in ``plan.json``."""

from __future__ import annotations

from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from ppdm_flow.core.documents import about, one_of
from ppdm_flow.core.roles import Directions, ValuesAbsent


class ValueBoundFields(TypedDict):
    """(r1, r2) of a value."""

    value: Annotated[str, about("The value.")]
    r1: float
    r2: float
    given: NotRequired[Annotated[str, about("What else is known of the people whom r1 is about.")]]
    group: NotRequired[Annotated[str, about("The group that the bound comes from.")]]


class SensitivityFields(TypedDict):
    """What (r1, r2) of an attribute ask."""

    attribute: Annotated[str, about("The sensitive attribute.")]
    directions: Annotated[str, one_of(Directions), about("Which breaches are forbidden.")]
    values: Annotated[list[ValueBoundFields], about("(r1, r2) by value.")]
    tolerance: Annotated[float | None, about("theta of other values: r1 = frequency, r2 = theta r1.")]
    default: Annotated[
        Annotated[list[float], Field(min_length=2, max_length=2)] | None, about("(r1, r2) of other values.")
    ]
    values_absent: NotRequired[Annotated[str, Field(json_schema_extra={"const": ValuesAbsent.ALLOWED.value})]]
