"""beta-likeness: no sensitive value is much more frequent in a class than in the table."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from ppdm_flow.core.model import LOWER
from ppdm_flow.core.requirement_families import OnSensitive

_ABOUT = "The largest relative gain: (share in the group - share in the release) / the latter."


class BetaLikeness(OnSensitive):
    """The share of a sensitive value in a class is at most (1 + beta) times that in the release.

    Source: Cao, Karras, PVLDB 5(11), 2012, definition 2 (basic beta-likeness).
    """

    kind: ClassVar[str] = "beta_likeness"
    classes: ClassVar[str] = "ppdm_flow.requirements.beta_likeness.algorithm:models"
    beta: Annotated[float, Field(gt=0.0, description=_ABOUT, examples=["2"]), LOWER]
