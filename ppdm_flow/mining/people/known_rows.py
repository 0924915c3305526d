"""How many people are left for somebody who knows the classes of a few rows of one linked person.

Whoever knows the quasi-identifiers of up to m rows of a person, and sees which released rows are one person's, finds
all people that have so many rows in these classes. The smallest crowd is that of the combination which fewest have.

Terrovitis, Mamoulis, Kalnis, Privacy-preserving anonymization of set-valued data, PVLDB 1(1), 2008 (k^m-anonymity);
Nergiz, Clifton, Nergiz, Multirelational k-anonymity, IEEE TKDE 21(8), 2009.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.people.combinations import (
    CHUNK,
    LARGEST,
    MOST_COMBINATIONS,
    CombinationLimitError,
    combinations,
    number_of_combinations,
)
from ppdm_flow.mining.people.profiles import ClassProfiles, profiles

Ints = npt.NDArray[np.int64]
Truths = npt.NDArray[np.bool_]
CLEARLY_MORE = 1.0 + 1e-9
"""What makes one sum of floating-point numbers larger than another beyond doubt."""
_STEPS = 5_000_000
"""People that the search for a rare combination looks at before it gives up."""


@dataclass(frozen=True, slots=True, eq=False)
class KnownRowsCrowds:
    """``smallest``: the fewest people that have a combination; None where no row is linked.

    ``combinations`` is how many there are. ``people`` (linked people,) are their numbers, ``rows`` their linked rows
    and ``by_person`` the smallest crowd of a combination that each of them has. Where the search ``ended_early``,
    ``smallest`` is exact: no crowd can be smaller. Then ``combinations`` counts one for each profile that has it, and
    ``by_person`` may be larger than the truth.
    """

    smallest: int | None
    combinations: int
    people: Ints
    rows: Ints
    by_person: Ints
    ended_early: bool = False

    def people_below(self, k: int) -> int:
        """Return how many linked people have a combination that less than ``k`` have; at least so many, if early."""
        return int((self.by_person < k).sum())

    def rows_below(self, k: int) -> int:
        """Return how many linked rows these people have."""
        return int(self.rows[self.by_person < k].sum())


def smallest_crowd(
    person: npt.NDArray[np.integer],
    class_of_row: npt.NDArray[np.integer],
    linked: Truths,
    known_rows: int | None,
    chunk: int = CHUNK,
) -> KnownRowsCrowds:
    """Count the people that have each combination of classes which a linked person has.

    Parameters
    ----------
    person
        (rows,) whose row it is, numbers from 0.
    class_of_row
        (rows,) its equivalence class, numbers from 0; rows with a negative one are left out.
    linked
        (rows,) which rows count, as :func:`ppdm_flow.mining.people.linkage.linked_rows` finds them.
    known_rows
        1 to 3: combinations are multisets of at most so many classes, and people have one who have at least as many
        rows in each. None for all: combinations are the whole multisets, and people have one who have just that.
    chunk
        How many people of combinations are held in memory at a time.

    Raises
    ------
    TooManyError
        There are more than ``MOST_COMBINATIONS``, and no crowd was found below which none can be: of one person, or of
        as many as share their profile with fewest.
    """
    return crowds_of(profiles(person, class_of_row, linked), known_rows, chunk)


def crowds_of(held: ClassProfiles, known_rows: int | None, chunk: int = CHUNK) -> KnownRowsCrowds:
    """Do the same for the profiles of linked people."""
    if not len(held):
        nobody = np.zeros(0, dtype=np.int64)
        return KnownRowsCrowds(None, 0, nobody, nobody, nobody)
    if known_rows is not None and 1 <= known_rows <= LARGEST:
        number = number_of_combinations(held, known_rows)
        if number > MOST_COMBINATIONS:
            return _early(held, known_rows, number)
    smallest = held.people + int(held.people.sum())
    found = 0
    for some in combinations(held, known_rows, chunk):
        found += len(some)
        crowds = some.crowds(held.people)
        np.minimum.at(smallest, some.profiles, np.repeat(crowds, np.diff(some.begins)))
    return _crowds(held, smallest, found)


def _crowds(held: ClassProfiles, by_profile: Ints, number: int, *, early: bool = False) -> KnownRowsCrowds:
    own = held.holdings
    return KnownRowsCrowds(int(by_profile.min()), number, own.persons, own.rows, by_profile[held.of], early)


def _early(held: ClassProfiles, known_rows: int, number: float) -> KnownRowsCrowds:
    """Look for a combination that cannot have fewer people. Raises TooManyError where none is found.

    Nobody's crowd is smaller than the people of the same profile. Looked at are rows of one class; a profile with more
    combinations than all others together, which has one that none of them has; and the rarest classes of each profile.
    """
    least = int(held.people.min())
    people, owner = (np.repeat(each, np.diff(held.begins)) for each in (held.people, np.arange(len(held))))
    smallest = held.people + int(held.people.sum())
    in_class = np.zeros(0, dtype=np.int64)
    for copies in range(known_rows, 0, -1):
        some = held.copies >= copies
        in_class = np.bincount(held.classes[some], people[some], held.number_of_classes).astype(np.int64)
        np.minimum.at(smallest, owner[some], in_class[held.classes[some]])
    for size in range(2, known_rows + 1):
        many = held.multisets(size)
        most = int(many.argmax())
        if many[most] > CLEARLY_MORE * np.delete(many, most).sum():
            smallest[most] = held.people[most]
    if smallest.min() > least:
        smallest = np.minimum(smallest, _of_rarest(held, in_class, known_rows, least))
    if smallest.min() > least:
        raise CombinationLimitError.of(number, known_rows)
    return _crowds(held, smallest, int(number), early=True)


def _of_rarest(held: ClassProfiles, in_class: Ints, known_rows: int, least: int) -> Ints:
    """Return the crowd of the rarest classes of each profile, those with most combinations first."""
    from ppdm_flow.mining.people.known_rows_kernels import crowds_of_rarest  # noqa: PLC0415  # compiled

    owner = np.repeat(np.arange(len(held)), np.diff(held.begins))
    ranked = np.lexsort((held.classes, in_class[held.classes], owner))
    rarest = np.full((len(held), known_rows), -1, dtype=np.int64)
    for i in range(known_rows):
        there = held.begins[:-1] + i < held.begins[1:]
        rarest[there, i] = held.classes[ranked[held.begins[:-1][there] + i]]
    by_class = np.argsort(held.classes, kind="stable")
    posted = np.searchsorted(held.classes[by_class], np.arange(held.number_of_classes + 1)).astype(np.int64)
    crowds = np.full(len(held), np.iinfo(np.int64).max)
    order = np.argsort(-held.multisets(known_rows), kind="stable")
    crowds_of_rarest(
        held.begins,
        held.classes,
        held.copies,
        held.people,
        posted,
        owner[by_class].astype(np.int64),
        rarest,
        order.astype(np.int64),
        least,
        _STEPS,
        crowds,
    )
    return crowds
