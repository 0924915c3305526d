"""delta-disclosure: shares in classes are near those in the table."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from ppdm_flow.core.model import LOWER
from ppdm_flow.core.requirement_families import OnSensitive

_ABOUT = "The largest |ln(share in the group / share in the release)|; every group then has every value."


class DeltaDisclosure(OnSensitive):
    """The share of a sensitive value in a class is at most e^delta times that in the release, and at least e^-delta.

    A value of the table that a class lacks breaks it. Source: Brickell, Shmatikov, KDD 2008.
    """

    kind: ClassVar[str] = "delta_disclosure"
    classes: ClassVar[str] = "ppdm_flow.requirements.delta_disclosure.algorithm:models"
    delta: Annotated[float, Field(gt=0.0, description=_ABOUT, examples=["1.5"]), LOWER]
