"""k-map: every released class fits several people of a population."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from ppdm_flow.core.requirement import NameOf, OnPeople, reaching
from ppdm_flow.core.spans import Span
from ppdm_flow.mining.populations.population import Population


@dataclass(frozen=True, slots=True)
class KMap(OnPeople):
    """Every released class fits at least ``k`` people of the population. Source: Sweeney, PhD thesis, MIT, 2001."""

    kind: ClassVar[str] = "k_map"
    in_population: ClassVar[bool] = True
    classes: ClassVar[str] = "ppdm_flow.requirements.k_map.classes:models"
    id: str
    k: int
    attributes: tuple[str, ...]
    population: Population
    span: Span | None = field(default=None, compare=False)
    releases: tuple[str, ...] = ()

    @property
    def class_claim(self) -> str:
        """What a class does."""
        return f"fits at least {self.k} people of the population"

    def renamed(self, name_of: NameOf) -> KMap:
        """Return it in present names; those of the population's file stay."""
        columns = dict(self.population.columns)
        given = tuple((name, columns.get(a, a)) for a in self.attributes if (name := name_of(a)) is not None)
        population = replace(self.population, columns=given)
        return replace(self, attributes=reaching(self.attributes, name_of), population=population)

    def document(self) -> dict[str, Any]:
        """Return what it asks."""
        told = self.population
        people = {"path": told.path, "columns": dict(sorted(told.columns)), "delimiter": told.delimiter}
        return {"k": self.k, "attributes": list(self.attributes), "population": people}
