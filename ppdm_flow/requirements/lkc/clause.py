"""The entry of a policy for LKC-privacy."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.core.roles import ValuesAbsent
from ppdm_flow.policy.language.model import HIGHER, LOWER, Clause, Probability, Texts


class LKC(Clause):
    """Whoever knows at most ``l`` attributes of somebody finds at least ``k`` rows and infers no more than ``c``."""

    l: Annotated[int, Field(ge=1), HIGHER]  # noqa: E741  # the model's own letter
    k: Annotated[int, Field(ge=2), HIGHER]
    c: Annotated[Probability | None, LOWER] = None
    sensitive: dict[str, Texts] = Field(default_factory=dict)
    attributes: Texts | None = None
    values_absent: ValuesAbsent = ValuesAbsent.ERROR
