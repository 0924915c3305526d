"""k-map of every class: how many people of the population it fits."""

from __future__ import annotations

from dataclasses import dataclass, field

from ppdm_flow.mining.recoding.grouping import RowGrouping
from ppdm_flow.mining.recoding.models import Bools, Floats, HereditaryModel, SensitiveColumns
from ppdm_flow.requirements.k_map.requirement import KMap


@dataclass(frozen=True, slots=True)
class KMapped(HereditaryModel):
    """At least ``k`` people of the population table (Sweeney 2001); classes without a record are of no interest."""

    k: int
    attribute: None = field(default=None, init=False)

    def keeps(self, grouping: RowGrouping, _base: Floats) -> Bools:
        """Compare the population's counts."""
        if grouping.people is None:
            raise ValueError("k-map needs a population table")
        return grouping.people >= self.k


def models(requirement: KMap, _columns: SensitiveColumns) -> list[KMapped]:
    """Return what a class must keep."""
    return [KMapped(requirement.k)]
