"""The entry of a policy for beta-likeness."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.policy.language.model import LOWER, Clause, Texts


class BetaLikeness(Clause):
    """The share of a sensitive value in a class is at most (1 + beta) times that in the release."""

    beta: Annotated[float, Field(gt=0.0), LOWER]
    attributes: Texts | None = None
