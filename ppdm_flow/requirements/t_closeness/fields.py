"""The fields of the requirement in ``plan.json``."""

from __future__ import annotations

from typing import Annotated, NotRequired

from ppdm_flow.core.documents import one_of
from ppdm_flow.core.requirement_fields import Absent, OnSensitiveFields
from ppdm_flow.requirements.t_closeness.requirement import Distance


class TClosenessFields(OnSensitiveFields):
    """What t-closeness asks."""

    t: float
    distance: Annotated[str, one_of(Distance)]
    order: NotRequired[list[str]]
    values_absent: NotRequired[Absent]
