"""Classes as models see them where people count: their people, and the figure of each value that the model bounds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.core.people import PeopleFigure
from ppdm_flow.mining.class_people import kernels
from ppdm_flow.mining.class_people.holdings import OfHoldings
from ppdm_flow.mining.people.groups import GroupEntries, PeopleGroups
from ppdm_flow.mining.recoding.grouping import ClassCells, RowGrouping
from ppdm_flow.mining.recoding.models import ClassModel

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class PersonalClasses:
    """Class c has the items ``order[begins[c]:ends[c]]``, those of one person side by side."""

    order: Ints
    begins: Ints
    ends: Ints

    @classmethod
    def of(cls, ids: Ints, size: int, persons: Ints) -> PersonalClasses:
        """Return the classes that ``ids`` (items,) number from 0 to below ``size``; a negative one is none.

        Items come in the order of their persons.
        """
        if (np.diff(persons) < 0).any():
            raise ValueError("items must be in the order of their persons")
        order, bounds = kernels.by_class(ids, size)
        return cls(order, bounds[:-1], bounds[1:])

    def __len__(self) -> int:
        return len(self.begins)


@dataclass(frozen=True, eq=False)
class ClassPeople:
    """Items with their ``persons`` (items,), numbers from 0, and ``weights`` (items,) rows each.

    ``sensitive``: codes (items,) of each attribute that models are about, ``values`` how many there are. ``known_rows``
    is how many rows of one person somebody may know; None for all.
    """

    persons: Ints
    weights: Ints
    sensitive: Sequence[Codes]
    values: Sequence[int]
    known_rows: int | None = 1

    @cached_property
    def most_known(self) -> int:
        """How many rows of a person somebody can know: no more than anybody has."""
        most = int(np.bincount(self.persons, self.weights).max(initial=1))
        return most if self.known_rows is None else min(self.known_rows, most)

    def base(self, attribute: int, kept: Bools | None = None) -> Floats:
        """Return the distribution of an attribute in the ``kept`` items: everybody weighs 1, spread over the rows."""
        some = np.ones(len(self.persons), dtype=np.bool_) if kept is None else kept
        persons, weights = self.persons[some], self.weights[some]
        own = np.bincount(persons, weights)
        spread = np.bincount(self.sensitive[attribute][some], weights / own[persons], self.values[attribute])
        return np.asarray(spread / max(1, int(np.count_nonzero(own))), dtype=np.float64)

    def keeps(
        self, classes: PersonalClasses, models: Iterable[ClassModel], k: int = 1, kept: Bools | None = None
    ) -> Bools:
        """Return which classes have ``k`` people and keep every model; tables are the ``kept`` items, or all."""
        people, rows, most = kernels.sizes(self.persons, self.weights, classes.order, classes.begins, classes.ends)
        holds = np.asarray(people >= k)
        for model in models:
            at = model.attribute
            if isinstance(model, OfHoldings) and at is not None:
                holds &= model.keeps_people(self._entries(classes, at, np.arange(len(classes))), len(classes))
                continue
            grouping = RowGrouping((), classes.begins, people, ())
            base = np.zeros(0)
            if at is not None:
                own = self._cells(classes, at, model.figure, (people, rows, most))
                none = ClassCells(
                    np.zeros(len(classes) + 1, dtype=np.int64), np.zeros(0, np.int32), np.zeros(0, np.int64)
                )
                cells = tuple(own if i == at else none for i in range(len(self.values)))
                distinct = self._distinct(classes, at, own, people) if model.figure is PeopleFigure.DISTINCT else None
                grouping = RowGrouping((), classes.begins, people, cells, distinct=distinct)
                base = self.base(at, kept) if model.compares else np.zeros(self.values[at])
            holds &= model.keeps(grouping, base)
        return holds

    def _cells(
        self, classes: PersonalClasses, at: int, figure: PeopleFigure, sizes: tuple[Ints, Ints, Ints]
    ) -> ClassCells:
        """Return the figure of each value, times the people of the class; of `DISTINCT` the people with the value."""
        begins, value, of_rows, of_people, spread = kernels.cells(
            np.ascontiguousarray(self.sensitive[at], dtype=np.int32),
            self.values[at],
            self.persons,
            self.weights,
            classes.order,
            classes.begins,
            classes.ends,
        )
        if figure is PeopleFigure.DISTINCT:
            return ClassCells(begins, value, of_people)
        if figure is PeopleFigure.DISTRIBUTION:
            return ClassCells(begins, value, spread)  # type: ignore[arg-type]  # counts may be shares
        people, rows, most = (np.repeat(each, np.diff(begins)) for each in sizes)
        chance = chances(of_rows, rows, most, self.most_known)
        confidence = np.maximum(chance, of_people / people)
        return ClassCells(begins, value, confidence * people)

    def _distinct(self, classes: PersonalClasses, at: int, cells: ClassCells, people: Ints) -> Ints:
        """Return the distinct l: people matched with values, and at most 1 more than the fewest who lack a value."""
        values = np.diff(cells.begins)
        owner = cells.owner
        most = np.zeros(len(classes), dtype=np.int64)
        np.maximum.at(most, owner, cells.count)
        place = np.arange(len(owner)) - cells.begins[owner]
        ranked = np.lexsort((cells.count, owner))
        scarce = np.unique(owner[ranked][cells.count[ranked] <= place])  # the i-th rarest value has fewer than i people
        matched = values.copy()
        if len(scarce):
            matched[scarce] = self._matched(classes, at, scarce)
        return np.asarray(np.minimum(matched, people - most + 1), dtype=np.int64)

    def _matched(self, classes: PersonalClasses, at: int, which: Ints) -> Ints:
        entries = self._entries(classes, at, which)
        sizes = (classes.ends - classes.begins)[which]
        return PeopleGroups(entries, sizes, np.zeros(self.values[at]), pa.array([], pa.string())).distinct

    def _entries(self, classes: PersonalClasses, at: int, which: Ints) -> GroupEntries:
        """Return what the people of some classes have of an attribute, in the order of these."""
        sizes = (classes.ends - classes.begins)[which]
        owner = np.repeat(np.arange(len(which)), sizes)
        first = classes.begins[which] - np.concatenate([[0], np.cumsum(sizes)[:-1]])
        items = classes.order[np.arange(int(sizes.sum())) + np.repeat(first, sizes)]
        sure = np.ones(len(items), dtype=np.bool_)
        value = self.sensitive[at][items].astype(np.int64)
        return GroupEntries.of(owner, self.persons[items], value, self.weights[items].astype(np.float64), sure)


def chances(having: Ints, rows: Ints, most: Ints, known: int) -> Floats:
    """Return a confidence for each value that bounds what several known rows of a person tell.

    Of a class of ``rows`` rows, ``having`` with the value, somebody knows up to m = ``known`` rows of a person who has
    at most ``most`` there. One row more, after i others without the value, has none with the chance (n - n_v - i) /
    (n - i), which falls with i. If its smallest, to the power of m, is at least 1 - c in every class, then so is the
    product over any m known rows of any classes: nobody's value is known with more than c. For m = 1 it is the share.
    """
    after = np.minimum(known, most) - 1
    escape = np.maximum(rows - having - after, 0) / (rows - after)
    return np.asarray(1.0 - escape**known if known > 1 else having / rows, dtype=np.float64)
