"""Fields that requirements of several kinds have in ``plan.json``."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from ppdm_flow.core.documents import about
from ppdm_flow.core.roles import ValuesAbsent

Pair = Annotated[list[str], Field(min_length=2, max_length=2)]
Absent = Annotated[
    str,
    Field(json_schema_extra={"const": ValuesAbsent.ALLOWED.value}),
    about("Values that it names may be missing from the domain and from the data."),
]


class OnSensitiveFields(TypedDict):
    """A requirement on the values of one attribute in classes."""

    attribute: Annotated[str, about("The sensitive attribute.")]
    attributes: Annotated[list[str], about("What forms the classes.")]
