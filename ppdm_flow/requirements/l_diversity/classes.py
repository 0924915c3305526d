"""l-diversity of every class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.people import PeopleFigure
from ppdm_flow.mining.recoding.grouping import ClassCells, RowGrouping, added, largest, shares
from ppdm_flow.mining.recoding.models import (
    SLACK,
    Bools,
    ClassModel,
    Floats,
    HereditaryModel,
    SensitiveColumns,
    clipped,
)
from ppdm_flow.requirements.l_diversity.requirement import Diversity, LDiversity

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class DistinctDiverse(HereditaryModel):
    """At least ``l`` values (Machanavajjhala et al. 2007, section 4)."""

    attribute: int
    l: float  # noqa: E741  # the model's own letter
    figure: ClassVar[PeopleFigure] = PeopleFigure.DISTINCT

    def keeps(self, grouping: RowGrouping, _base: Floats) -> Bools:
        """Count values."""
        return np.asarray(grouping.different(self.attribute) >= self.l - SLACK)


@dataclass(frozen=True, slots=True)
class EntropyDiverse(ClassModel):
    """exp of the entropy of at least ``l`` (ibidem, definition 4.1)."""

    attribute: int
    l: float  # noqa: E741  # the model's own letter

    def keeps(self, grouping: RowGrouping, _base: Floats) -> Bools:
        """Compare entropies."""
        return np.asarray(entropies(grouping.cells[self.attribute], grouping.sizes) >= np.log(self.l) - SLACK)

    def lost(self, grouping: RowGrouping, _base: Floats, _drift: float) -> Floats:
        """Entropy is concave: a class has at least the mean of its parts', which is (1 - lost) ln l."""
        wanted = float(np.log(self.l))
        if wanted <= SLACK:
            return np.zeros(len(grouping))
        return clipped((wanted - SLACK - entropies(grouping.cells[self.attribute], grouping.sizes)) / wanted)


@dataclass(frozen=True, slots=True)
class RecursiveDiverse(ClassModel):
    """r_1 < c (r_l + … + r_m) for the counts in descending order (ibidem, definition 4.2)."""

    attribute: int
    c: float
    l: int  # noqa: E741  # the model's own letter

    def keeps(self, grouping: RowGrouping, _base: Floats) -> Bools:
        """Compare the largest count with the tail's."""
        first, tail = _heads_and_tails(grouping.cells[self.attribute], self.l)
        return np.asarray(first < self.c * tail - SLACK)

    def lost(self, grouping: RowGrouping, _base: Floats, _drift: float) -> Floats:
        """r_1 - c (r_l + … + r_m) is convex and homogeneous, so a class's is at most the sum of its parts'."""
        first, tail = _heads_and_tails(grouping.cells[self.attribute], self.l)
        return clipped((first - self.c * tail - SLACK) / np.maximum(grouping.sizes, 1))


def entropies(cells: ClassCells, sizes: Ints) -> Floats:
    """Return the entropy of each class in nats."""
    share = shares(cells, sizes)
    return added(cells, -share * np.log(share))


def _heads_and_tails(cells: ClassCells, rank: int) -> tuple[Ints, Ints]:
    """Return the largest count of each class, and the sum of its counts from the ``rank``-th largest on."""
    owner = cells.owner
    count = cells.count[np.lexsort((-cells.count, owner))]
    late = np.arange(len(count)) - cells.begins[owner] >= rank - 1
    total = np.concatenate([[0], np.cumsum(np.where(late, count, 0))])
    return largest(cells.begins, count), total[cells.begins[1:]] - total[cells.begins[:-1]]


def models(requirement: LDiversity, columns: SensitiveColumns) -> list[ClassModel]:
    """Return what a class must keep."""
    at = columns.place(requirement.attribute)
    if requirement.variant is Diversity.DISTINCT:
        return [DistinctDiverse(at, requirement.l)]
    if requirement.variant is Diversity.ENTROPY:
        return [EntropyDiverse(at, requirement.l)]
    return [RecursiveDiverse(at, requirement.c or 1.0, round(requirement.l))]
