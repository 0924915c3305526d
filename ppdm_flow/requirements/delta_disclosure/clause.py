"""The entry of a policy for delta-disclosure."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.policy.language.model import LOWER, Clause, Texts


class DeltaDisclosure(Clause):
    """The share of a sensitive value in a class is at most e^delta times that in the release, and at least e^-delta."""

    delta: Annotated[float, Field(gt=0.0), LOWER]
    attributes: Texts | None = None
