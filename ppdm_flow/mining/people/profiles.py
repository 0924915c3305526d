"""The classes of each linked person's rows, as a multiset; people with the same one are counted together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.tables.numbering import joined

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Truths = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class ClassHoldings:
    """How many rows each person has in each class, people and classes in order.

    The person with number i is ``persons[i]`` and has ``copies[begins[i]:begins[i + 1]]`` rows in ``classes`` of the
    same places. Classes are numbered from 0 without gaps.
    """

    persons: Ints
    begins: Ints
    classes: Ints
    copies: Ints

    @property
    def rows(self) -> Ints:
        """The rows of each person, shape (people,)."""
        return _added(self.begins, self.copies)


@dataclass(frozen=True, slots=True, eq=False)
class ClassProfiles:
    """The different multisets of classes that people have: their *profiles*.

    Profile p has ``copies[begins[p]:begins[p + 1]]`` rows in each of ``classes`` at the same places, which ascend, and
    ``people[p]`` people have it. ``of`` (people,) is the profile of each person of ``holdings``.
    """

    holdings: ClassHoldings
    of: Ints
    begins: Ints
    classes: Ints
    copies: Ints
    people: Ints

    def __len__(self) -> int:
        return len(self.people)

    @property
    def number_of_classes(self) -> int:
        """How many classes have a linked row."""
        return int(self.holdings.classes.max(initial=-1)) + 1

    @property
    def rows(self) -> Ints:
        """The rows that each person of a profile has, shape (profiles,)."""
        return _added(self.begins, self.copies)

    def multisets(self, size: int) -> Floats:
        """Return how many multisets of exactly ``size`` (1 to 3) classes each profile has, shape (profiles,)."""
        distinct = np.diff(self.begins).astype(np.float64)
        if size == 1:
            return distinct
        twice, thrice = (_added(self.begins, (self.copies >= n).astype(np.int64)) for n in (2, 3))
        if size == 2:
            return distinct * (distinct - 1) / 2 + twice
        return distinct * (distinct - 1) * (distinct - 2) / 6 + twice * (distinct - 1) + thrice


def holdings(person: npt.NDArray[np.integer], class_of_row: npt.NDArray[np.integer], rows: Truths) -> ClassHoldings:
    """Count the rows of each person in each class, of those in ``rows`` that have a class (a number from 0)."""
    kept = rows & (class_of_row >= 0)
    persons, owner = np.unique(person[kept].astype(np.int64), return_inverse=True)
    names, group = np.unique(class_of_row[kept].astype(np.int64), return_inverse=True)
    if len(persons) and int(persons[0]) < 0:
        raise ValueError("every row must have a person, a number from 0")
    pairs, copies = np.unique(owner * max(1, len(names)) + group, return_counts=True)
    owners, classes = np.divmod(pairs, max(1, len(names)))
    begins = np.searchsorted(owners, np.arange(len(persons) + 1))
    return ClassHoldings(persons, begins.astype(np.int64), classes.astype(np.int64), copies.astype(np.int64))


def profiles(person: npt.NDArray[np.integer], class_of_row: npt.NDArray[np.integer], linked: Truths) -> ClassProfiles:
    """Return the profiles of the people with ``linked`` rows; rows without a class (a negative one) are left out."""
    held = holdings(person, class_of_row, linked)
    items = np.unique(held.classes * (int(held.copies.max(initial=0)) + 1) + held.copies, return_inverse=True)[1]
    number = _numbered(held.begins, items.astype(np.int64) + 1)
    _, first, of, people = np.unique(number, return_index=True, return_inverse=True, return_counts=True)
    lengths = np.diff(held.begins)[first]
    begins = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    at = np.arange(begins[-1]) + np.repeat(held.begins[first] - begins[:-1], lengths)
    return ClassProfiles(held, of.astype(np.int64), begins, held.classes[at], held.copies[at], people.astype(np.int64))


def _numbered(begins: Ints, items: Ints) -> Ints:
    """Number lists of positive numbers: equal lists, equal numbers.

    Neighbours are numbered as pairs until each list is one number, so the rounds are the logarithm of the longest. A
    list of odd length ends in 0, which no number is, so lists of different lengths stay apart. Lists that are done in
    different rounds differ.
    """
    numbers = np.empty(len(begins) - 1, dtype=np.int64)
    which, used = np.arange(len(numbers)), 0
    while len(which):
        lengths = np.diff(begins)
        done = lengths == 1
        numbers[which[done]] = used + items[begins[:-1][done]]
        used += int(items.max())
        items = items[np.repeat(~done, lengths)]
        which, lengths = which[~done], lengths[~done]
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        halves = (lengths + 1) // 2
        begins = np.concatenate([[0], np.cumsum(halves)]).astype(np.int64)
        first = 2 * np.arange(begins[-1]) + np.repeat(starts[:-1] - 2 * begins[:-1], halves)
        paired = first + 1 < np.repeat(starts[1:], halves)
        second = np.where(paired, items[np.minimum(first + 1, len(items) - 1)], 0) if len(items) else items
        items = joined(items[first], second) + 1
    return numbers


def _added(begins: Ints, numbers: Ints) -> Ints:
    """Add up the numbers of each list; none is empty."""
    if not len(numbers):
        return np.zeros(len(begins) - 1, dtype=np.int64)
    return np.asarray(np.add.reduceat(numbers, begins[:-1]), dtype=np.int64)
