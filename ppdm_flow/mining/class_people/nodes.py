"""The people of the classes at a node of the lattice, for a search that counts people.

Two classes that keep a requirement for people need not keep it together. So what a class breaks its parts may keep,
but for k: no part of a class has more people than the class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.class_people.kernels import sizes
from ppdm_flow.mining.class_people.seen import ClassPeople, PersonalClasses
from ppdm_flow.mining.recoding.ground import WeightedRows
from ppdm_flow.mining.recoding.grouping import RowGrouping, at_bottom, keys_at
from ppdm_flow.mining.recoding.kernels import keyed, numbered
from ppdm_flow.mining.recoding.lattice import Node
from ppdm_flow.mining.recoding.models import ClassModel

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class NodePeople:
    """``people`` are those of the rows of ``ground``, ``k`` how many a class must have.

    ``asked``: the attributes, by their places, that a requirement groups by, and its models beside k.
    """

    ground: WeightedRows
    people: ClassPeople
    k: int
    asked: Sequence[tuple[tuple[int, ...], Sequence[ClassModel]]]

    @cached_property
    def _bottom(self) -> tuple[Ints, Ints]:
        """A row of each class before anything is generalized, and the class of each row."""
        codes = keyed(self.ground.codes.astype(np.int64))
        ids, _ = numbered(codes)
        return at_bottom(self.ground).first, ids

    def _class_of_row(self, node: Node) -> Ints:
        """Return the class of each row, numbered as those of a grouping: by their first rows."""
        first, own = self._bottom
        return numbered(keys_at(self.ground, first, node))[0][own]

    def surely(self, grouping: RowGrouping) -> float:
        """Return how many rows every node below suppresses at least: those of classes of fewer than k people."""
        classes = PersonalClasses.of(self._class_of_row(grouping.node), len(grouping), self.people.persons)
        people, rows, _ = sizes(self.people.persons, self.people.weights, classes.order, classes.begins, classes.ends)
        return float(rows[people < self.k].sum())

    def kept(self, grouping: RowGrouping, *, at_released: bool) -> Bools:
        """Suppress until every released class keeps everything, also those over fewer attributes.

        ``at_released``: distributions are compared with the released table's, else with the whole one's.
        """
        ids = self._class_of_row(grouping.node)
        kept = np.ones(len(grouping), dtype=np.bool_)
        while kept.any():
            rows = kept[ids]
            base = rows if at_released else None
            now = kept & self.people.keeps(self._classes(ids, rows, len(grouping)), (), self.k)
            for places, models in self.asked if (now == kept).all() else ():
                narrow, number = self._narrow(grouping, places)
                holds = self.people.keeps(self._classes(narrow[ids], rows, number), models, kept=base)
                now &= holds[narrow]
            if (now == kept).all():
                return kept
            kept = now
        return kept

    def are_enough(self, grouping: RowGrouping, which: Bools) -> bool:
        """Whether some classes (a mask) have k people together."""
        rows = which[self._class_of_row(grouping.node)]
        return len(np.unique(self.people.persons[rows])) >= self.k

    def _classes(self, ids: Ints, rows: Bools, number: int) -> PersonalClasses:
        return PersonalClasses.of(np.where(rows, ids, -1), number, self.people.persons)

    def _narrow(self, grouping: RowGrouping, places: tuple[int, ...]) -> tuple[Ints, int]:
        """Return the class over fewer attributes of each class, and how many there are."""
        own = self.ground.codes[grouping.first]
        columns = [self.ground.levels[j].maps[grouping.node[j]][own[:, j]].astype(np.int64) for j in places]
        ids, first = numbered(keyed(np.stack(columns, axis=1)))
        return ids, len(first)
