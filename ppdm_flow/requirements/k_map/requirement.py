"""k-map: every released class fits several people of a population."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from ppdm_flow.core.requirement import Columns, Requirement
from ppdm_flow.core.spans import Span
from ppdm_flow.mining.populations.population import Population


@dataclass(frozen=True, slots=True)
class KMap(Requirement):
    """Every released class fits at least ``k`` people of the population. Source: Sweeney, PhD thesis, MIT, 2001."""

    kind: ClassVar[str] = "k_map"
    on_groups: ClassVar[bool] = True
    hides_people: ClassVar[bool] = True
    in_population: ClassVar[bool] = True
    id: str
    k: int
    attributes: tuple[str, ...]
    population: Population
    span: Span | None = field(default=None, compare=False)

    @property
    def grouping(self) -> tuple[str, ...]:
        """The attributes that form the classes."""
        return self.attributes

    @property
    def counts_rows(self) -> bool:
        """Whether a group has to have so many rows."""
        return True

    def on_columns(self, columns: Columns) -> Iterator[KMap]:
        """Yield it with the columns that its names mean."""
        yield replace(self, attributes=columns.every(self.attributes, self))

    def document(self) -> dict[str, Any]:
        """Return what it asks."""
        told = self.population
        people = {"path": told.path, "columns": dict(sorted(told.columns)), "delimiter": told.delimiter}
        return {"k": self.k, "attributes": list(self.attributes), "population": people}
