"""Privacy models as a search asks for them: which classes keep them, and what every finer grouping loses at least."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, final

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.people import PeopleFigure
from ppdm_flow.mining.recoding.grouping import RowGrouping
from ppdm_flow.tables.counts import Counts

Bools = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
SLACK = 1e-12
"""Rounding of sums of shares: a class at the bound itself keeps it."""


class ClassModel(ABC):
    """A condition on every class. The union of two classes that keep it keeps it too.

    ``attribute`` is the place of a sensitive attribute in the ground, or None. ``compares``: with the attribute's
    distribution in the whole table, of which suppressed cells are a part and dropped rows are not. ``figure``: what it
    bounds where people count; then two classes that keep it need not keep it together.
    """

    __slots__ = ()

    attribute: int | None
    compares: ClassVar[bool] = False
    figure: ClassVar[PeopleFigure] = PeopleFigure.DISTRIBUTION

    @abstractmethod
    def keeps(self, grouping: RowGrouping, base: Floats) -> Bools:
        """Return which classes keep it; ``base`` (values,) is the attribute's distribution in the whole table."""

    @abstractmethod
    def lost(self, grouping: RowGrouping, base: Floats, drift: float) -> Floats:
        """Return, for each class, the share of its records that is suppressed at every node below, at least.

        Where only a class's parts are released, what is released of it may have another distribution, and so may the
        whole table, by ``drift`` in total variation.
        """


class HereditaryModel(ClassModel):
    """A model that no part of a class keeps where the class itself breaks it."""

    __slots__ = ()

    def lost(self, grouping: RowGrouping, base: Floats, _drift: float) -> Floats:
        """Return 1 where it is broken: so it is for every part of the class."""
        return (~self.keeps(grouping, base)).astype(np.float64)


@final
@dataclass(frozen=True, slots=True)
class KAnonymous(HereditaryModel):
    """At least ``k`` records (Samarati 2001)."""

    k: int
    attribute: None = field(default=None, init=False)

    def keeps(self, grouping: RowGrouping, _base: Floats) -> Bools:
        """Compare sizes."""
        return grouping.sizes >= self.k


class SensitiveColumns(Protocol):
    """The columns of ``counts`` that requirements are about, as models find them in a grouping: as codes, at places."""

    @property
    def counts(self) -> Counts:
        """The distinct rows."""
        ...

    def facts(self, name: str) -> AttributeFacts | None:
        """Return what is known of an attribute."""
        ...

    def place(self, name: str) -> int:
        """Return the place of an attribute, with all its values, suppressed and missing ones too, as codes."""
        ...

    def codes(self, name: str, values: Sequence[str]) -> tuple[int, ...]:
        """Return the codes of values at that place; one that does not occur has a code that nothing has."""
        ...

    def add(self, name: str, codes: Codes, size: int) -> int:
        """Add codes below ``size``, one for each of ``counts``, under a name for them; return their place."""
        ...


ModelsOf = Callable[[Any, SensitiveColumns], Sequence[ClassModel]]
"""From a requirement, in present names, to what a class must keep."""


def clipped(share: Floats) -> Floats:
    """Keep a share within [0, 1]."""
    return np.clip(share, 0.0, 1.0)


def exceeding(value: Floats, most: Floats) -> Floats:
    """Return what share of a class is lost at least, if a convex measure of at most 1 may not exceed ``most``.

    The measure of the class is at most the mean of its parts': value <= lost + (1 - lost) most.
    """
    room = 1.0 - most
    return clipped((value - most - SLACK) / np.where(room > 0, room, 1.0)) * (room > 0)
