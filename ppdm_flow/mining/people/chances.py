"""The chance that one of a few known rows of a person has a value, where nobody sees which rows are one person's.

Somebody knows the classes of at most m rows of a person. Each m_c of them in a class c of n rows, of which n_v have the
value, may be any m_c of the n; that none has the value has the chance C(n - n_v, m_c) / C(n, m_c), class by class.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.people.combinations import LARGEST
from ppdm_flow.mining.people.profiles import ClassHoldings, holdings
from ppdm_flow.mining.recoding.grouping import ClassCells

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Truths = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Choices:
    """What somebody may know of whom: the rows of each person by class, and ``sizes`` (classes,), all rows of each.

    ``posted`` (classes + 1,) and ``holders`` are the people of each class, in a line.
    """

    held: ClassHoldings
    sizes: Floats
    posted: Ints
    holders: Ints


def choices(
    person: npt.NDArray[np.integer],
    class_of_row: npt.NDArray[np.integer],
    known: Truths | None = None,
    sizes: npt.NDArray[np.integer] | None = None,
) -> Choices:
    """Return what somebody may know.

    Parameters
    ----------
    person, class_of_row
        (rows,) whose row it is and its class, numbers from 0; rows with a negative class are in none.
    known
        (rows,) the rows among which those are that somebody knows; all, if not given. Others count in ``sizes``.
    sizes
        (classes,) the rows of each class; counted, if not given.
    """
    number = int(class_of_row.max(initial=-1)) + 1
    some = np.ones(len(person), dtype=np.bool_) if known is None else known
    held = holdings(person, class_of_row, some)
    names = np.unique(class_of_row[some & (class_of_row >= 0)]).astype(np.int64)
    held = ClassHoldings(held.persons, held.begins, names[held.classes], held.copies)
    rows = np.bincount(class_of_row[class_of_row >= 0], minlength=number) if sizes is None else sizes
    if (held.copies > rows[held.classes]).any():
        raise ValueError("sizes must be at least the rows that one person has in the class")
    owner = np.repeat(np.arange(len(held.persons)), np.diff(held.begins))
    by_class = np.argsort(held.classes, kind="stable")
    posted = np.searchsorted(held.classes[by_class], np.arange(len(rows) + 1)).astype(np.int64)
    return Choices(held, rows.astype(np.float64), posted, owner[by_class])


def largest_chances(told: Choices, cells: ClassCells, known_rows: int | None, values: int) -> Floats:
    """Return for each value, shape (values,), the largest chance over all persons and choices of known rows.

    1 - product of C(n - n_v, m_c) / C(n, m_c) over classes, for m_c known rows in each.

    Parameters
    ----------
    told
        The rows of people by class.
    cells
        How many rows of each class have each value. Counts need not be whole: where cells are decoded they are sums of
        the rows' chances. Then the product of max(0, n - n_v - i) / (n - i) over i < m_c, of the mean n_v, is at most
        the mean of the product (it is convex in n_v; Jensen), so what is returned is an upper bound of the chance, if
        classes do not depend on each other.
    known_rows
        1 to 3: somebody knows at most so many rows of a person. None: all of them.
    values
        How many there are.
    """
    largest = np.zeros(values)
    for value, _, chances in _by_value(told, cells, known_rows):
        largest[value] = chances.max(initial=0.0)
    return largest


def chances_of(told: Choices, having: npt.NDArray[Any], known_rows: int | None) -> Floats:
    """Return each person's largest chance for one value, shape (people of ``told.held``,).

    ``having`` (classes,) are the rows of each class that have the value, as of one value of :func:`largest_chances`.
    """
    some = np.flatnonzero(having > 0)
    begins = np.searchsorted(some, np.arange(len(told.sizes) + 1)).astype(np.int64)
    cells = ClassCells(begins, np.zeros(len(some), dtype=np.int32), having[some])
    out = np.zeros(len(told.held.persons))
    for _, people, chances in _by_value(told, cells, known_rows):
        out[people] = chances
    return out


def _by_value(told: Choices, cells: ClassCells, known_rows: int | None) -> Iterator[tuple[int, Ints, Floats]]:
    """Yield each value, the people with a row in a class that has it, and their largest chances."""
    from ppdm_flow.mining.people.chances_kernels import lowest, people_in  # noqa: PLC0415  # compiled

    if known_rows is not None and not 1 <= known_rows <= LARGEST:
        raise ValueError(f"known_rows must be 1 to {LARGEST}, or None for all, got {known_rows}")
    if len(cells.begins) != len(told.sizes) + 1:
        raise ValueError(f"cells must have {len(told.sizes)} classes, got {len(cells.begins) - 1}")
    held = told.held
    order = np.argsort(cells.value, kind="stable")
    owner, value, count = cells.owner[order], cells.value[order], cells.count[order].astype(np.float64)
    ends = np.flatnonzero(np.append(value[1:] != value[:-1], True)) + 1 if len(value) else np.zeros(0, dtype=np.int64)
    people, seen = np.empty(len(held.persons), dtype=np.int64), np.full(len(held.persons), -1, dtype=np.int64)
    having, escapes = np.zeros(len(told.sizes)), np.ones(len(held.persons))
    begin = 0
    for end in ends.tolist():
        classes, which = owner[begin:end], int(value[begin])
        having[classes] = count[begin:end]
        many = people_in(told.posted, told.holders, classes, seen, begin, people)
        here = people[:many]
        lowest(
            *(held.begins, held.classes, held.copies, told.sizes, having, here, known_rows or 0, escapes),
        )
        yield which, here, 1.0 - escapes[here]
        having[classes] = 0.0
        begin = end
