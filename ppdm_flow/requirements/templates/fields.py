"""The fields of the requirement in ``plan.json``."""

from __future__ import annotations

from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from ppdm_flow.core.documents import about
from ppdm_flow.core.requirement_fields import Absent, Pair


class TemplateFields(TypedDict):
    """What an inference template asks."""

    channel: Annotated[list[str], about("The attributes that one may infer from.")]
    sensitive: Annotated[list[Pair], about("(attribute, value), not to be inferred.")]
    confidence: Annotated[float, about("The highest confidence of an inference.")]
    negated: NotRequired[Annotated[bool, about("Whether the inference is to not having the value.")]]
    min_support: NotRequired[Annotated[int, Field(ge=2), about("The least rows in a group.")]]
    values_absent: NotRequired[Absent]
