"""k-map: every class fits several people of a population."""

from __future__ import annotations

from typing import Annotated, ClassVar, Self

from pydantic import Field

from ppdm_flow.core.model import HIGHER, FixedMap
from ppdm_flow.core.requirement import NameOf
from ppdm_flow.core.requirement_families import OnPeople
from ppdm_flow.mining.populations.population import PopulationFile

_POPULATION = "The population, with a row for each person."


class KMap(OnPeople):
    """Every class of the release fits at least ``k`` people of a population.

    Source: Sweeney, PhD thesis, MIT, 2001.
    """

    kind: ClassVar[str] = "k_map"
    in_population: ClassVar[bool] = True
    counts_people: ClassVar[bool] = True
    classes: ClassVar[str] = "ppdm_flow.requirements.k_map.algorithm:models"
    k: Annotated[int, Field(ge=2, description="The least number of people that a group fits.", examples=["5"]), HIGHER]
    population: Annotated[PopulationFile, Field(description=_POPULATION, examples=[{"path": "voters.csv"}])]

    @property
    def class_claim(self) -> str:
        """What a class does."""
        return f"fits at least {self.k} people of the population"

    def renamed(self, name_of: NameOf) -> Self | None:
        """Return it in present names; those of the population's file stay."""
        file = self.population.columns
        given = FixedMap({name: file.get(a, a) for a in self.attributes if (name := name_of(a)) is not None})
        other = super().renamed(name_of)
        return other and other.changed(population=self.population.model_copy(update={"columns": given}))
