"""Dominance of every class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.mining.class_people.holdings import OfHoldings
from ppdm_flow.mining.exposure.numbers import UnnumberedError
from ppdm_flow.mining.people.groups import GroupEntries
from ppdm_flow.mining.recoding.grouping import RowGrouping
from ppdm_flow.mining.recoding.models import SLACK, Bools, ClassModel, Floats, SensitiveColumns
from ppdm_flow.requirements.dominance.concentration import Concentrations, concentrations, of_people
from ppdm_flow.requirements.dominance.figures import broken
from ppdm_flow.requirements.dominance.reading import numbers_of
from ppdm_flow.requirements.dominance.requirement import Dominance


@dataclass(frozen=True, slots=True, eq=False)
class UndominatedClass(OfHoldings):
    """No total of a class tells one contributor too closely.

    Two classes that keep it keep it together, since absolute values do not cancel. For (n, k): the n largest of a union
    are at most the n largest of both parts. For p%: let the largest be of the first part, a_1 >= b_1. What is left of
    the union without its two largest holds what is left of the first part without a_1 and a_2, and so is at least
    p a_1. A union has no fewer contributors than either. A class whose total is 0 changes nothing. It is the same where
    a person has numbers in both: for p%, let a and b be the largest of the union; without these two each part has at
    least p times its own largest left, so both have p times what a has in them, together p a.

    A part of a class that breaks it may keep it: without the one who dominates, the others do not.
    """

    attribute: int
    requirement: Dominance
    numbers: Floats

    def keeps(self, grouping: RowGrouping, _base: Floats) -> Bools:
        """Measure each class."""
        return ~broken(self.requirement, self._each(grouping), SLACK)

    def keeps_people(self, held: GroupEntries, classes: int) -> Bools:
        """Measure each class, with the sum of a person's numbers as one contribution."""
        own = self.requirement
        return ~broken(own, of_people(held, self.numbers, classes, own.n, own.q), SLACK)

    def lost(self, grouping: RowGrouping, _base: Floats, _drift: float) -> Floats:
        """One record at least: if all parts kept it, so would the class.

        Where there are too few contributors, there are too few in each part: all of them are lost.
        """
        each = self._each(grouping)
        few = each.some & (each.contributors < (self.requirement.contributors or 0))
        records = np.where(few, each.contributors, broken(self.requirement, each, SLACK))
        return np.asarray(records / np.maximum(grouping.sizes, 1), dtype=np.float64)

    def _each(self, grouping: RowGrouping) -> Concentrations:
        own = self.requirement
        return concentrations(grouping.cells[self.attribute], self.numbers, own.n, own.q)


def models(requirement: Dominance, columns: SensitiveColumns) -> list[ClassModel]:
    """Return what a class must keep. Raises PluginError where values are no numbers."""
    name = requirement.attribute
    at = columns.place(name)
    try:
        numbers = numbers_of(columns.counts.names(name), name, strict=True)
    except UnnumberedError as fault:
        help_text = "take the step that makes labels of the numbers after the one that makes classes"
        raise PluginError(Diagnostic("PPF807", fault.text, requirement.span, help=help_text)) from None
    return [UndominatedClass(at, requirement, numbers)]
