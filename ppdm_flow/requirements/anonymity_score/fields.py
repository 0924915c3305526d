"""The fields of the requirement in ``plan.json``."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from ppdm_flow.core.documents import about


class AnonymityScoreFields(TypedDict):
    """What a bound on the anonymity score asks."""

    max: Annotated[float, Field(ge=0, le=1), about("The highest Normalised Anonymity Score.")]
