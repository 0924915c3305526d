"""The entry of a policy for l-diversity."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.policy.language.model import HIGHER, LOWER, Clause, Texts
from ppdm_flow.requirements.l_diversity.requirement import Diversity


class LDiversity(Clause):
    """Every class has at least ``l`` values of a sensitive attribute that are well represented, as ``kind`` counts."""

    l: Annotated[float, Field(gt=1.0), HIGHER]  # noqa: E741  # the model's own letter
    kind: Diversity = Diversity.DISTINCT
    c: Annotated[Annotated[float, Field(gt=0.0)] | None, LOWER] = None
    attributes: Texts | None = None
