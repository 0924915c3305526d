"""The entry of a policy for k-map."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.policy.language.model import HIGHER, Clause, Model, Texts


class Population(Model):
    """A CSV file with a row for each person; ``columns`` names its columns where they are called otherwise."""

    path: str
    columns: dict[str, str] = Field(default_factory=dict)
    delimiter: str = ","


class KMap(Clause):
    """Every class of the release fits at least ``k`` people of a population."""

    k: Annotated[int, Field(ge=2), HIGHER]
    population: Population
    attributes: Texts | None = None
