"""k-anonymity: an adversary who knows a person's quasi-identifiers finds at least k rows that look alike."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from ppdm_flow.core.model import HIGHER
from ppdm_flow.core.requirement_families import OnPeople


class KAnonymity(OnPeople):
    """Every combination of quasi-identifier values occurs in at least ``k`` released rows."""

    kind: ClassVar[str] = "k_anonymity"
    counts_people: ClassVar[bool] = True
    of_all_files: ClassVar[bool] = True
    classes: ClassVar[str] = "ppdm_flow.requirements.k_anonymity.algorithm:models"
    k: Annotated[int, Field(ge=2, description="The least number of rows in a group.", examples=["5"]), HIGHER]

    @property
    def class_claim(self) -> str:
        """What a class does."""
        return f"has at least {self.k} rows"
