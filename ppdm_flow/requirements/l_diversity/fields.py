"""The fields of the requirement in ``plan.json``."""

from __future__ import annotations

from typing import Annotated, NotRequired

from ppdm_flow.core.documents import one_of
from ppdm_flow.core.requirement_fields import OnSensitiveFields
from ppdm_flow.requirements.l_diversity.requirement import Diversity


class LDiversityFields(OnSensitiveFields):
    """What l-diversity asks."""

    l: float  # noqa: E741  # the model's own letter
    variant: Annotated[str, one_of(Diversity)]
    c: NotRequired[float]
