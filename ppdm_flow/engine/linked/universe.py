"""The rows of several tables, joined by person: what whoever has all of them puts side by side."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Places = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
NOWHERE = -1
MOST_ROWS = 50_000_000
"""So many joined rows are looked at."""


class TooManyRowsError(Exception):
    """The join has more rows than are looked at."""


@dataclass(frozen=True, slots=True, eq=False)
class Universe:
    """Each row of the outer join: ``person`` (rows,), and by table its place in it, or ``NOWHERE``.

    A person who has rows in several tables has each combination of them. ``first`` says by table where it is the
    person's first row there, or the person has none.
    """

    person: Places
    places: Mapping[str, Places]
    first: Mapping[str, Bools]

    @classmethod
    def of(cls, people: Mapping[str, Places], count: int, most: int = MOST_ROWS) -> Universe:
        """Join tables by person. Raises TooManyRowsError.

        Parameters
        ----------
        people : by table, whose each of its rows is: numbers below ``count``
        count : how many people there are
        most : how many rows are looked at
        """
        sizes = {name: np.bincount(person, minlength=count) for name, person in people.items()}
        total = np.prod([np.maximum(size, 1).astype(np.float64) for size in sizes.values()], axis=0)
        total *= np.any([size > 0 for size in sizes.values()], axis=0)
        if total.sum() > most:
            raise TooManyRowsError
        rows = total.astype(np.int64)
        person = np.repeat(np.arange(count, dtype=np.int64), rows)
        rest = np.arange(len(person), dtype=np.int64) - np.repeat(np.cumsum(rows) - rows, rows)
        places, first = {}, {}
        for name, size in sizes.items():
            own = np.maximum(size, 1)[person]
            digit, rest = rest % own, rest // own
            order = np.append(np.argsort(people[name], kind="stable"), 0)
            begins = np.cumsum(size) - size
            there = size[person] > 0
            places[name] = np.where(there, order[np.minimum(begins[person] + digit, len(order) - 1)], NOWHERE)
            first[name] = digit == 0
        return cls(person, places, first)

    def released(self, present: Mapping[str, Bools]) -> tuple[Places, dict[str, Places]]:
        """Return the rows of the join of what is released, and their places by table.

        ``present`` says by table which rows left. Somebody who has rows in a table, of which none left, is joined to
        nothing there, once.
        """
        kept = np.ones(len(self.person), dtype=bool)
        somewhere = np.zeros(len(self.person), dtype=bool)
        places = {}
        for name, place in self.places.items():
            here = (place != NOWHERE) & np.append(present[name], np.False_)[place]
            has = np.bincount(self.person[here], minlength=int(self.person.max(initial=-1)) + 1) > 0
            kept &= here | (self.first[name] & ~has[self.person])
            somewhere |= here
            places[name] = np.where(here, place, NOWHERE)
        rows = np.flatnonzero(kept & somewhere)
        return rows, {name: place[rows] for name, place in places.items()}


@dataclass(frozen=True, slots=True, eq=False)
class RowsInTurn:
    """Each row of some tables once, and each person once; ``places`` as in a universe.

    The products of two people's rows can be the same where their rows are not: two visits and one claim, or one visit
    and two claims. Whoever knows several rows of a person knows how many there are of each table. ``referring`` are
    the tables with any number of rows of a person; the others, with one at most, stand beside each of these.
    """

    person: Places
    places: Mapping[str, Places]
    referring: frozenset[str]

    @classmethod
    def of(cls, people: Mapping[str, Places], count: int, referring: Collection[str]) -> RowsInTurn:
        """Put tables below each other; ``people`` and ``count`` as in a universe."""
        turns = [name for name in people if name in referring]
        person = np.concatenate([*(people[name] for name in turns), np.arange(count, dtype=np.int64)])
        ends = np.cumsum([len(people[name]) for name in turns])
        places = {}
        for name, whose in people.items():
            if name in referring:
                place = np.full(len(person), NOWHERE, dtype=np.int64)
                end = int(ends[turns.index(name)])
                place[end - len(whose) : end] = np.arange(len(whose))
            else:
                of_person = np.full(count, NOWHERE, dtype=np.int64)
                of_person[whose] = np.arange(len(whose))
                place = of_person[person]
            places[name] = place
        return cls(person, places, frozenset(referring))

    def released(self, present: Mapping[str, Bools]) -> tuple[Places, dict[str, Places]]:
        """Return the rows of what is released, and their places by table; a person alone who has no other row."""
        here = {n: (at != NOWHERE) & np.append(present[n], np.False_)[at] for n, at in self.places.items()}
        nothing = np.zeros(len(self.person), dtype=bool)
        kept = np.logical_or.reduce([nothing, *(here[name] for name in self.referring)])
        somewhere = np.logical_or.reduce([nothing, *here.values()])
        people = int(self.person.max(initial=-1)) + 1
        has = np.bincount(self.person[kept], minlength=people) > 0
        alone = np.arange(len(self.person)) >= len(self.person) - people
        rows = np.flatnonzero(kept | (alone & somewhere & ~has[self.person]))
        return rows, {n: np.where(here[n], at, NOWHERE)[rows] for n, at in self.places.items()}
