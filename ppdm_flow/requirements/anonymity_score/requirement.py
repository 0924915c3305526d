"""The Normalised Anonymity Score: how many original rows a generated release repeats."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from ppdm_flow.core.model import LOWER
from ppdm_flow.core.requirement import Requirement

_ABOUT = "The highest score; 0 is no original row released, 1 is all of them."


class AnonymityScore(Requirement):
    """The Normalised Anonymity Score is at most ``max``: 0 where no original row is released, 1 where all are.

    Source: Vreeken, van Leeuwen, Siebes, ICDM 2007.
    """

    kind: ClassVar[str] = "anonymity_score"
    counts_whole_rows: ClassVar[bool] = True
    max: Annotated[float, Field(ge=0.0, le=1.0, description=_ABOUT, examples=["0.5"]), LOWER]
