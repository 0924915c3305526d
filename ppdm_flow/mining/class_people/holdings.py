"""Models of what each person of a class has in all of its rows together, which no figure of single values tells."""

from __future__ import annotations

from abc import abstractmethod

from ppdm_flow.mining.people.groups import GroupEntries
from ppdm_flow.mining.recoding.models import Bools, ClassModel


class OfHoldings(ClassModel):
    """A model that looks at every person with its values where people count, and not at a figure of each value."""

    __slots__ = ()

    @abstractmethod
    def keeps_people(self, held: GroupEntries, classes: int) -> Bools:
        """Return which of so many classes keep it, whose people have the rows and values of ``held``."""
