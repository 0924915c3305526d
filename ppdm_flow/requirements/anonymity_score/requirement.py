"""The Normalised Anonymity Score: how many original rows a generated release repeats."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.model import LOWER
from ppdm_flow.core.requirement import Requirement
from ppdm_flow.sdk.spec import Params, requirement_audit

_ABOUT = "The highest score; 0 is no original row released, 1 is all of them."


class AnonymityScore(Requirement):
    """The Normalised Anonymity Score is at most ``max``: 0 where no original row is released, 1 where all are.

    Source: Vreeken, van Leeuwen, Siebes, ICDM 2007.
    """

    kind: ClassVar[str] = "anonymity_score"
    counts_whole_rows: ClassVar[bool] = True
    max: Annotated[float, Field(ge=0.0, le=1.0, description=_ABOUT, examples=["0.5"]), LOWER]


class AnonymityScoreParams(Params):
    """It has none: all released attributes that the original has are compared."""


AUDIT = requirement_audit(
    "anonymity_score",
    "ppdm_flow.requirements.anonymity_score.algorithm:AnonymityScoreAudit",
    params=AnonymityScoreParams,
    standalone=True,
    asks=AccessRequirements(DataAccess.TABLE, passes=6),
)
