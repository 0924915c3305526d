"""Which released rows are those of the people whose records are known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ppdm_flow.mining.exposure.numbers import Floats, Ints

_TOGETHER = 1 << 22
"""So many pairs of records and own rows are looked at together."""


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """``owner`` (rows,) is the number of the person of each released row, ``whose`` (records,) that of each record.

    -1 is nobody. ``row`` (records,) is one released row of the same person, -1 where there is none: by these rows the
    errors are told. A record is found where a row of its person is.
    """

    row: Ints
    owner: Ints
    whose: Ints

    @staticmethod
    def by_number(rows: int) -> Truth:
        """Return that each record has the row of its own number."""
        every = np.arange(rows)
        return Truth(every, every, every)

    @staticmethod
    def by_people(owner: Ints, whose: Ints) -> Truth:
        """Return that each record has the rows of its person, of which the first tells the errors."""
        people, first = np.unique(owner, return_index=True)
        place = np.minimum(np.searchsorted(people, whose), max(0, len(people) - 1))
        has = (whose >= 0) & (people[place] == whose) if len(people) else np.zeros(len(whose), np.bool_)
        return Truth(np.where(has, first[place] if len(people) else -1, -1), owner, whose)

    def of_people(self, person: Ints) -> Truth:
        """Return that rows and records are those of people: ``person`` (rows,) is the number of each row's."""
        return Truth(self.row, person, np.where(self.row >= 0, person[self.row], -1))

    def errors(self, known: Floats, released: Floats) -> Floats:
        """Return released numbers less known ones, (records that have a row, attributes)."""
        has = self.row >= 0
        return released[self.row[has]] - known[has]

    def own_rows(self, records: Ints) -> Iterator[tuple[slice, Ints, Ints]]:
        """Yield places among ``records``, some at a time, where the rows of each begin, and these rows.

        Each of the records has one. Rows of all records of a slice stand one after the other.
        """
        order = np.argsort(self.owner, kind="stable")
        ordered, whose = self.owner[order], self.whose[records]
        begins, ends = (np.searchsorted(ordered, whose, side=side) for side in ("left", "right"))
        sizes = ends - begins
        upto = np.cumsum(sizes)
        start = 0
        while start < len(records):
            done = int(upto[start] - sizes[start])
            stop = max(start + 1, int(np.searchsorted(upto, done + _TOGETHER, side="right")))
            some = sizes[start:stop]
            firsts = np.cumsum(some) - some
            steps = np.arange(int(some.sum())) - np.repeat(firsts, some)
            yield slice(start, stop), firsts, order[np.repeat(begins[start:stop], some) + steps]
            start = stop


def least_and_ties(squares: Floats, firsts: Ints, high: float, floor: float) -> tuple[Floats, Floats]:
    """Return the least of each group of ``squares``, and how many of it are up to ``high`` times that, and ``floor``.

    >>> least_and_ties(np.array([2.0, 1.0, 1.0, 5.0]), np.array([0, 3]), 1.0, 0.0)
    (array([1., 5.]), array([2., 1.]))
    """
    sizes = np.diff(firsts, append=len(squares))
    least = np.minimum.reduceat(squares, firsts)
    ties = np.add.reduceat(squares <= np.repeat(least * high + floor, sizes), firsts, dtype=np.int64)
    return least, ties.astype(np.float64)
