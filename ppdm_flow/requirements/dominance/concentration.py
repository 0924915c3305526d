"""How much of each group's total its largest contributors have, by sums of whole numbers that round nowhere.

The rules compare sums within one group, so a group is measured in units of its largest number: x becomes the whole part
of x / x_1 times 2^61, or 1 where that is 0. These are added up as whole numbers, in three parts of 21 bits. So a sum
does not depend on the order of rows, and the second route, whose database adds up integers of 128 bits, finds the same
figures to the last bit. What that changes is at most 2^-52 of each number, or 2^-61 of the largest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.people.groups import GroupEntries
from ppdm_flow.mining.recoding.grouping import ClassCells

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
UNIT = 2.0**61
"""What the largest number of a group becomes."""
_PART = 21
_MASK = (1 << _PART) - 1
HIGH = 1 << (2 * _PART)
"""A sum is told as a multiple of this and a rest, both of which are exact in 64 bits."""


@dataclass(frozen=True, slots=True, eq=False)
class Concentrations:
    """One figure for each group; those of a group whose total is 0 are 0, infinite, and 0.

    ``share``: that of the n largest contributors in the total. ``margin``: what others than the two largest contribute,
    in percent of the largest, times q/100. ``contributors``: how many numbers are not 0.
    """

    share: Floats
    margin: Floats
    contributors: Ints

    @property
    def some(self) -> npt.NDArray[np.bool_]:
        """Which groups have a total."""
        return self.contributors > 0


def concentrations(cells: ClassCells, numbers: Floats, n: int, q: float) -> Concentrations:
    """Return the figures of each class.

    Parameters
    ----------
    cells : the values of each class, each value once, with how many contributors have it
    numbers : shape (values,), the number that each value stands for: finite, of any sign; 0 contributes nothing
    n : how many of the largest contributors count together
    q : percent by which everybody knows every contributor
    """
    groups = len(cells.begins) - 1
    size = np.abs(numbers)[cells.value]
    there = (size > 0) & (cells.count > 0)
    owner, size, count = cells.owner[there], size[there], cells.count[there]
    order = np.lexsort((-size, owner))
    owner, size, count = owner[order], size[order], count[order]
    first = np.searchsorted(owner, np.arange(groups))
    contributors = np.zeros(groups, dtype=np.int64)
    np.add.at(contributors, owner, count)
    if not len(owner):
        return Concentrations(np.zeros(groups), np.full(groups, np.inf), contributors)
    largest = size[np.minimum(first, len(size) - 1)]
    whole = _parts_of(size, largest[owner])
    upto = np.cumsum(count)
    begins = np.concatenate(([0], upto))[first]
    before = upto - count - begins[owner]
    two = np.clip(2 - before, 0, count)
    total, top, rest = (
        _summed(owner, whole, times, groups) for times in (count, np.clip(n - before, 0, count), count - two)
    )
    some = contributors > 0
    share = np.divide(top, total, out=np.zeros(groups), where=some)
    return Concentrations(share, np.where(some, q * (rest / UNIT), np.inf), contributors)


def of_people(held: GroupEntries, numbers: Floats, groups: int, n: int, q: float) -> Concentrations:
    """Return the figures of groups in which each person is one contributor, with the sum of its absolute numbers.

    A person's sum is made of whole parts of the group's largest single number, and rounded once. Parameters are those
    of :func:`concentrations`; ``held`` has the rows that each person of a group has of each value.
    """
    size, times = np.abs(numbers)[held.value], np.rint(held.amount).astype(np.int64)
    there = (size > 0) & (times > 0)
    owner, person, size, times = held.owner[there], held.person[there], size[there], times[there]
    largest = np.zeros(groups)
    np.maximum.at(largest, owner, size)
    whole = _parts_of(size, largest[owner])
    new = np.ones(len(owner), dtype=np.bool_)
    new[1:] = (owner[1:] != owner[:-1]) | (person[1:] != person[:-1])
    sums = _summed(np.cumsum(new) - 1, whole, times, int(new.sum()))
    begins = np.searchsorted(owner[new], np.arange(groups + 1)).astype(np.int64)
    each = ClassCells(begins, np.arange(len(sums), dtype=np.int32), np.ones(len(sums), dtype=np.int64))
    return concentrations(each, sums, n, q)


def _parts_of(size: Floats, largest: Floats) -> Ints:
    """Return each number as whole parts of the largest, one at least."""
    return np.maximum(np.floor(size / largest * UNIT), 1.0).astype(np.int64)


def _summed(owner: Ints, whole: Ints, times: Ints, groups: int) -> Floats:
    """Add up ``whole`` numbers, each so many ``times``, by owner: exactly, and then rounded.

    Raises ValueError where somebody counts more people than 64 bits hold parts of.
    """
    if int(times.sum()) >= 1 << 62 - _PART:
        raise ValueError("too many contributors to add up")
    parts = np.zeros((3, groups), dtype=np.int64)
    for i in range(3):
        np.add.at(parts[i], owner, ((whole >> (i * _PART)) & _MASK) * times)
    parts[1] += parts[0] >> _PART
    parts[2] += parts[1] >> _PART
    low = ((parts[1] & _MASK) << _PART) | (parts[0] & _MASK)
    return np.asarray(parts[2].astype(np.float64) * float(HIGH) + low.astype(np.float64))
