"""Classes for models that count people: their people, and the figure of each value that the model bounds."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.core.people import PeopleFigure
from ppdm_flow.mining.people.groups import GroupEntries, PeopleGroups
from ppdm_flow.mining.recoding.grouping import ClassCells, Node, RowGrouping, WeightedRows, at_bottom, keys_at
from ppdm_flow.mining.recoding.kernels import keyed, numbered
from ppdm_flow.mining.recoding.models import ClassModel
from ppdm_flow.sdk.compiled import compiled

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
        order, bounds = by_class(ids, size)
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
        people, rows, most = sizes(self.persons, self.weights, classes.order, classes.begins, classes.ends)
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
        begins, value, of_rows, of_people, spread = cells(
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


# Counting the people of classes. The items of a class that are one person's stand side by side: one run of items.


@compiled
def sizes(persons: Ints, weights: Ints, order: Ints, begins: Ints, ends: Ints) -> tuple[Ints, Ints, Ints]:
    """Return people, rows and the most rows of one person, each (classes,), of classes ``order[begins:ends]``."""
    people, rows = np.zeros(len(begins), dtype=np.int64), np.zeros(len(begins), dtype=np.int64)
    most = np.zeros(len(begins), dtype=np.int64)
    for c in range(len(begins)):
        own = 0
        for at in range(begins[c], ends[c]):
            if at == begins[c] or persons[order[at]] != persons[order[at - 1]]:
                people[c] += 1
                own = 0
            own += weights[order[at]]
            rows[c] += weights[order[at]]
            most[c] = max(most[c], own)
    return people, rows, most


@compiled
def cells(
    values: Codes, size: int, persons: Ints, weights: Ints, order: Ints, begins: Ints, ends: Ints
) -> tuple[Ints, Codes, Ints, Ints, Floats]:
    """Count the values (below ``size``) of each class.

    Returns where the cells of each class begin (classes + 1,), and for each cell its value, the rows with it, the
    people with it, and the sum over people of the share of their rows of the class that have it.
    """
    rows, people, spread = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64), np.zeros(size)
    seen = np.full(size, -1, dtype=np.int64)
    room = 0
    for c in range(len(begins)):
        room += min(size, ends[c] - begins[c])
    out_begins = np.zeros(len(begins) + 1, dtype=np.int64)
    value = np.empty(room, dtype=np.int32)
    of_rows, of_people, of_spread = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64), np.empty(room)
    filled, run = 0, 0
    for c in range(len(begins)):
        start, at = filled, begins[c]
        while at < ends[c]:
            stop, own = at, 0
            while stop < ends[c] and persons[order[stop]] == persons[order[at]]:
                own += weights[order[stop]]
                stop += 1
            for i in range(at, stop):
                v = values[order[i]]
                if rows[v] == 0:
                    value[filled] = v
                    filled += 1
                rows[v] += weights[order[i]]
                spread[v] += weights[order[i]] / own
                if seen[v] != run:
                    seen[v] = run
                    people[v] += 1
            run += 1
            at = stop
        for i in range(start, filled):
            v = value[i]
            of_rows[i], of_people[i], of_spread[i] = rows[v], people[v], spread[v]
            rows[v], people[v], spread[v] = 0, 0, 0.0
        out_begins[c + 1] = filled
    return out_begins, value[:filled].copy(), of_rows[:filled], of_people[:filled], of_spread[:filled]


@compiled
def by_class(ids: Ints, size: int) -> tuple[Ints, Ints]:
    """Return the items class by class, each class's in their order, and where each class begins (size + 1,).

    ``ids`` (items,) number the classes from 0; items with a negative one are left out.
    """
    begins = np.zeros(size + 1, dtype=np.int64)
    for i in range(len(ids)):
        if ids[i] >= 0:
            begins[ids[i] + 1] += 1
    for c in range(size):
        begins[c + 1] += begins[c]
    free = begins[:-1].copy()
    order = np.empty(begins[size], dtype=np.int64)
    for i in range(len(ids)):
        if ids[i] >= 0:
            order[free[ids[i]]] = i
            free[ids[i]] += 1
    return order, begins


class OfHoldings(ClassModel):
    """A model that looks at every person with its values where people count, and not at a figure of each value."""

    __slots__ = ()

    @abstractmethod
    def keeps_people(self, entries: GroupEntries, classes: int) -> Bools:
        """Return which of so many classes keep it, whose people have the rows and values of ``entries``."""


# The people of the classes at a node of the lattice, for a search that counts people.
#
# Two classes that keep a requirement for people need not keep it together. So what a class breaks its parts may keep,
# but for k: no part of a class has more people than the class.


@dataclass(frozen=True, eq=False)
class NodePeople:
    """``people`` are those of the rows of ``ground``, ``k`` how many a class must have.

    ``groupings``: the attributes, by their places, that a requirement groups by, and its models beside k.
    """

    ground: WeightedRows
    people: ClassPeople
    k: int
    groupings: Sequence[tuple[tuple[int, ...], Sequence[ClassModel]]]

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
            for places, models in self.groupings if (now == kept).all() else ():
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
