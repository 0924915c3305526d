"""How well two tables with the same columns fit each other, row by row, where rows can look alike."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from ppdm_flow.tables.column import Column
from ppdm_flow.tables.table import Table, concat

Integers = npt.NDArray[np.int64]


def common_rows(one: Table, other: Table) -> int:
    """Return the size of the multiset intersection of the rows of two tables with the same columns."""
    both = concat([one, other])
    groups = _numbered(both.columns.values(), len(both))
    number = int(groups.max(initial=-1)) + 1
    counts = [np.bincount(part, minlength=number) for part in (groups[: len(one)], groups[len(one) :])]
    return int(np.minimum(*counts).sum())


def expected_hits(guesses: Table, truth: Table, guessed: str) -> float:
    """Return how many rows of ``truth`` have their own value of ``guessed`` guessed right, in expectation.

    Of the people with one record (all other columns) nobody can be told from another, so that for each of them one of
    the guesses on that record is taken at random: sum over records of sum over values of true times guessed rows, over
    the record's guesses.
    """
    both = concat([guesses, truth])
    records = _numbered((c for n, c in both.columns.items() if n != guessed), len(both))
    cells = records * both[guessed].width + both[guessed].dense
    distinct, place = np.unique(cells, return_inverse=True)
    size = len(guesses)
    first, second = (np.bincount(part, minlength=len(distinct)) for part in (place[:size], place[size:]))
    per_record = np.bincount(records[:size], minlength=int(records.max(initial=-1)) + 1)
    owner = distinct // both[guessed].width
    return float((first * second / np.maximum(per_record[owner], 1)).sum())


def _numbered(columns: Iterable[Column], rows: int) -> Integers:
    groups = np.zeros(rows, dtype=np.int64)
    for column in columns:
        _, groups = np.unique(groups * column.width + column.dense, return_inverse=True)
    return groups
