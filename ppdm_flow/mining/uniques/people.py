"""Special uniques of people: a few attributes single out a person whose rows nobody else shares.

A set of attributes singles out a person where the values of one of its rows are those of nobody else's row: several
rows of one person are no crowd.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.roles import Nulls
from ppdm_flow.mining.people.compatible_pairs import compatible_pairs
from ppdm_flow.mining.uniques.special import SpecialUniques
from ppdm_flow.tables.column import MISSING, SPECIALS
from ppdm_flow.tables.numbering import joined

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]
Truths = npt.NDArray[np.bool_]
Bits = npt.NDArray[np.uint8]
Chosen = tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class RowsOfPeople:
    """Rows, each once: ``codes`` (rows, columns), whose they are, ``person`` (rows,), and which are ``linked`` (rows,).

    Persons are numbers from 0. Linked rows are seen to be one person's, and are looked at among themselves as well.
    """

    codes: Codes
    person: Ints
    linked: Truths

    @classmethod
    def of(cls, codes: Codes, person: Ints, linked: Truths) -> RowsOfPeople:
        """Keep one of all rows that are alike; persons are numbered from 0."""
        persons = np.unique(person, return_inverse=True)[1].reshape(-1).astype(np.int64)
        number = joined(persons, linked.astype(np.int64))
        for column in codes.T:
            number = joined(number, column.astype(np.int64) + SPECIALS)
        first = np.unique(number, return_index=True)[1]
        return cls(codes[first], persons[first], linked[first])

    @property
    def people(self) -> int:
        """How many people there are."""
        return int(self.person.max(initial=-1)) + 1


def people_uniques(rows: RowsOfPeople, carriers: Sequence[Sequence[int]], size: int, nulls: Nulls) -> SpecialUniques:
    """Find the people whom sets of up to ``size`` attributes single out, each by its minimal ones.

    A set is minimal for a row where none of its parts singles it out; a person has a set where one of its rows has.
    With one row a person these are the minimal sample uniques of rows.

    Parameters
    ----------
    rows
        The rows of people.
    carriers
        For each attribute, the places of the columns that depend on it.
    size
        The largest set.
    nulls
        As for :func:`ppdm_flow.mining.uniques.special.minimal_sample_uniques`, with people in place of rows. Raises
        UncrowdedError where wildcards leave too many pairs of groups.
    """
    attributes = len(carriers)
    largest = min(size, attributes)
    by_person = np.zeros((rows.people, largest), dtype=np.int64)
    by_attribute = np.zeros((attributes, largest), dtype=np.int64)
    wild = nulls is Nulls.WILDCARD and bool((rows.codes == MISSING).any())
    alone = dict(_by_crowds(rows, carriers, largest) if wild else _by_classes(rows, carriers, largest, nulls))
    for chosen in sorted(alone, key=len):
        least = len(chosen) - 1
        parts = [alone[part] for part in combinations(chosen, least) if part]
        before = np.bitwise_or.reduce(parts) if parts else np.zeros_like(alone[chosen])
        minimal = np.unpackbits(alone[chosen] & ~before, count=len(rows.person)).astype(np.bool_)
        people = np.unique(rows.person[minimal])
        by_person[people, least] += 1
        by_attribute[list(chosen), least] += len(people)
        alone[chosen] |= before
    return SpecialUniques(largest, attributes, by_person, by_attribute, rows.people)


def crowd_sizes(rows: RowsOfPeople, nulls: Nulls) -> Ints:
    """Return how many people each row's crowd by all columns has, (rows,); 0 where null semantics leave it out."""
    codes, number = np.unique(rows.codes, axis=0, return_inverse=True)
    number = number.reshape(-1).astype(np.int64)
    person = rows.person
    if nulls is Nulls.WILDCARD:
        begins = np.argsort(number, kind="stable")
        starts = np.searchsorted(number[begins], np.arange(len(codes) + 1))
        ours, theirs = compatible_pairs(codes)
        many = starts[theirs + 1] - starts[theirs]
        at = np.repeat(starts[theirs] - np.cumsum(many) + many, many) + np.arange(int(many.sum()))
        pairs = np.unique(np.repeat(ours, many) * (rows.people or 1) + person[begins[at]])
    else:
        pairs = np.unique(number * (rows.people or 1) + person)
    sizes = np.bincount(pairs // (rows.people or 1), minlength=len(codes))[number]
    if nulls is Nulls.EXCLUDE:
        sizes[(rows.codes == MISSING).any(axis=1)] = 0
    return sizes.astype(np.int64)


def _by_classes(
    rows: RowsOfPeople, carriers: Sequence[Sequence[int]], size: int, nulls: Nulls
) -> Iterator[tuple[Chosen, Bits]]:
    """Yield which rows each set of attributes singles out, packed; sets are made longer attribute by attribute."""
    numbers, known = [], []
    for columns in carriers:
        number = np.zeros(len(rows.person), dtype=np.int64)
        for column in columns:
            number = joined(number, rows.codes[:, column].astype(np.int64) + SPECIALS)
        numbers.append(number)
        out = nulls is Nulls.EXCLUDE
        known.append(~(rows.codes[:, list(columns)] == MISSING).any(axis=1) if out else np.ones(len(number), np.bool_))
    waiting: list[tuple[Chosen, Ints, Truths]] = [((i,), numbers[i], known[i]) for i in reversed(range(len(numbers)))]
    while waiting:
        chosen, number, there = waiting.pop()
        yield chosen, np.packbits(_of_one_person(rows, number, there))
        if len(chosen) < size:
            longer = range(len(numbers) - 1, chosen[-1], -1)
            waiting += [((*chosen, i), joined(number, numbers[i]), there & known[i]) for i in longer]


def _of_one_person(rows: RowsOfPeople, number: Ints, there: Truths) -> Truths:
    """Return the rows whose class, by number, has one person; linked ones also where it has one linked person."""
    alone = there & _with_one(rows.person, number, there)
    if rows.linked.any():
        some = there & rows.linked
        alone |= some & _with_one(rows.person, number, some)
    return alone


def _with_one(person: Ints, number: Ints, some: Truths) -> Truths:
    first, last = _ends(person[some], number[some], int(number.max(initial=-1)) + 1)
    return np.asarray((first == last)[number])


def _ends(person: Ints, number: Ints, size: int) -> tuple[Ints, Ints]:
    first, last = np.full(size, np.iinfo(np.int64).max), np.full(size, -1, dtype=np.int64)
    np.minimum.at(first, number, person)
    np.maximum.at(last, number, person)
    return first, last


def _by_crowds(rows: RowsOfPeople, carriers: Sequence[Sequence[int]], size: int) -> Iterator[tuple[Chosen, Bits]]:
    """Yield the same where a missing cell may be anything; no row is linked then."""
    for level in range(1, size + 1):
        for chosen in combinations(range(len(carriers)), level):
            columns = list(dict.fromkeys(column for place in chosen for column in carriers[place]))
            codes, number = np.unique(rows.codes[:, columns], axis=0, return_inverse=True)
            number = number.reshape(-1).astype(np.int64)
            first, last = _ends(rows.person, number, len(codes))
            ours, theirs = compatible_pairs(codes)
            low, high = first.copy(), last.copy()
            np.minimum.at(low, ours, first[theirs])
            np.maximum.at(high, ours, last[theirs])
            yield chosen, np.packbits((low == high)[number])
