"""The entry of a policy for the anonymity score."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.policy.language.model import LOWER, Clause


class AnonymityScore(Clause):
    """The Normalised Anonymity Score is at most ``max``: 0 where no original row is released, 1 where all are."""

    max: Annotated[float, Field(ge=0.0, le=1.0), LOWER]
