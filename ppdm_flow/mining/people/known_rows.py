"""How many people are left for an adversary who knows the classes of a few rows of one linked person.

An adversary who knows the quasi-identifiers of up to m rows of a person, and sees which released rows are one person's,
finds all people that have so many rows in these classes. The smallest crowd is that of the rarest combination.

Terrovitis, Mamoulis, Kalnis, Privacy-preserving anonymization of set-valued data, PVLDB 1(1), 2008 (k^m-anonymity);
Nergiz, Clifton, Nergiz, Multirelational k-anonymity, IEEE TKDE 21(8), 2009.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.phrases import counted
from ppdm_flow.mining.exposure.faults import UnmeasuredError
from ppdm_flow.tables.numbering import joined

Ints = npt.NDArray[np.int64]
Truths = npt.NDArray[np.bool_]
CLEARLY_MORE = 1.0 + 1e-9
"""What makes one sum of floating-point numbers larger than another beyond doubt."""
_STEPS = 5_000_000
"""People that the search for a rare combination looks at before it gives up."""
Floats = npt.NDArray[np.float64]


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


# All combinations of a few classes that linked people have, some at a time, with the profiles that have each.


CHUNK = 1 << 22
"""People of combinations that are in memory at a time, unless one combination has more."""


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


def crowds_of(class_profiles: ClassProfiles, known_rows: int | None, chunk: int = CHUNK) -> KnownRowsCrowds:
    """Do the same for the profiles of linked people."""
    if not len(class_profiles):
        nobody = np.zeros(0, dtype=np.int64)
        return KnownRowsCrowds(None, 0, nobody, nobody, nobody)
    if known_rows is not None and 1 <= known_rows <= LARGEST:
        number = number_of_combinations(class_profiles, known_rows)
        if number > MOST_COMBINATIONS:
            return _early(class_profiles, known_rows, number)
    smallest = class_profiles.people + int(class_profiles.people.sum())
    combinations_seen = 0
    for some in combinations(class_profiles, known_rows, chunk):
        combinations_seen += len(some)
        crowds = some.crowds(class_profiles.people)
        np.minimum.at(smallest, some.profiles, np.repeat(crowds, np.diff(some.begins)))
    return _crowds(class_profiles, smallest, combinations_seen)


def _crowds(class_profiles: ClassProfiles, by_profile: Ints, number: int, *, early: bool = False) -> KnownRowsCrowds:
    own = class_profiles.holdings
    return KnownRowsCrowds(int(by_profile.min()), number, own.persons, own.rows, by_profile[class_profiles.of], early)


def _early(class_profiles: ClassProfiles, known_rows: int, number: float) -> KnownRowsCrowds:
    """Look for a combination that cannot have fewer people. Raises TooManyError where none is found.

    Nobody's crowd is smaller than the people of the same profile. Looked at are rows of one class; a profile with more
    combinations than all others together, which has one that none of them has; and the rarest classes of each profile.
    """
    least = int(class_profiles.people.min())
    lengths = np.diff(class_profiles.begins)
    people, owner = (np.repeat(each, lengths) for each in (class_profiles.people, np.arange(len(class_profiles))))
    smallest = class_profiles.people + int(class_profiles.people.sum())
    in_class = np.zeros(0, dtype=np.int64)
    for copies in range(known_rows, 0, -1):
        some = class_profiles.copies >= copies
        in_class = np.bincount(class_profiles.classes[some], people[some], class_profiles.number_of_classes).astype(
            np.int64
        )
        np.minimum.at(smallest, owner[some], in_class[class_profiles.classes[some]])
    for size in range(2, known_rows + 1):
        many = class_profiles.multisets(size)
        most = int(many.argmax())
        if many[most] > CLEARLY_MORE * np.delete(many, most).sum():
            smallest[most] = class_profiles.people[most]
    if smallest.min() > least:
        smallest = np.minimum(smallest, _of_rarest(class_profiles, in_class, known_rows, least))
    if smallest.min() > least:
        raise CombinationLimitError.of(number, known_rows)
    return _crowds(class_profiles, smallest, int(number), early=True)


def _of_rarest(class_profiles: ClassProfiles, in_class: Ints, known_rows: int, least: int) -> Ints:
    """Return the crowd of the rarest classes of each profile, those with most combinations first."""
    from ppdm_flow.mining.people.known_rows_kernels import crowds_of_rarest  # noqa: PLC0415  # compiled

    owner = np.repeat(np.arange(len(class_profiles)), np.diff(class_profiles.begins))
    ranked = np.lexsort((class_profiles.classes, in_class[class_profiles.classes], owner))
    rarest = np.full((len(class_profiles), known_rows), -1, dtype=np.int64)
    for i in range(known_rows):
        there = class_profiles.begins[:-1] + i < class_profiles.begins[1:]
        rarest[there, i] = class_profiles.classes[ranked[class_profiles.begins[:-1][there] + i]]
    by_class = np.argsort(class_profiles.classes, kind="stable")
    posted = np.searchsorted(class_profiles.classes[by_class], np.arange(class_profiles.number_of_classes + 1)).astype(
        np.int64
    )
    crowds = np.full(len(class_profiles), np.iinfo(np.int64).max)
    order = np.argsort(-class_profiles.multisets(known_rows), kind="stable")
    crowds_of_rarest(
        class_profiles.begins,
        class_profiles.classes,
        class_profiles.copies,
        class_profiles.people,
        posted,
        owner[by_class].astype(np.int64),
        rarest,
        order.astype(np.int64),
        least,
        _STEPS,
        crowds,
    )
    return crowds


MOST_COMBINATIONS = 100_000_000
"""The most combinations that are looked at, each counted once for each profile that has it."""

LARGEST = 3
"""The most known rows, but for all of them."""
_PACKED = 1 << 62


@dataclass(frozen=True, slots=True, eq=False)
class ProfileCombinations:
    """Combination g is what ``profiles[begins[g]:begins[g + 1]]`` have, each profile once.

    ``classes`` (size, combinations) are its classes; None where a combination is a whole profile.
    """

    begins: Ints
    profiles: Ints
    classes: Ints | None = None

    def __len__(self) -> int:
        return len(self.begins) - 1

    def crowds(self, people: Ints) -> Ints:
        """Return the people that have each combination; ``people`` (profiles,) are those of each profile."""
        return np.asarray(np.add.reduceat(people[self.profiles], self.begins[:-1]), dtype=np.int64)


class CombinationLimitError(UnmeasuredError):
    """There are more combinations than are looked at."""

    code = "PPF940"

    @classmethod
    def of(cls, number: float, known_rows: int) -> CombinationLimitError:
        """Say how many, and what to do."""
        return cls(
            f"The linked rows of people have {number:.3g} combinations of up to"
            f" {counted(known_rows, 'class')}, and at most {MOST_COMBINATIONS:,} are compared: give each person fewer"
            " rows by `limit_rows`, generalize until they fall into fewer classes, or release no column that links"
            " them."
        )


def number_of_combinations(profiles: ClassProfiles, known_rows: int) -> float:
    """Return how many combinations of at most so many rows there are, each counted for each profile that has it."""
    return sum(float(profiles.multisets(size).sum()) for size in range(1, known_rows + 1))


def require_few_groups(profiles: ClassProfiles, known_rows: int | None) -> None:
    """Raise TooManyError where combinations, each counted for each person that has it, are more than are looked at."""
    if known_rows is not None and 1 <= known_rows <= LARGEST:
        sizes = range(1, known_rows + 1)
        number = sum(float((profiles.multisets(size) * profiles.people).sum()) for size in sizes)
        if number > MOST_COMBINATIONS:
            raise CombinationLimitError.of(number, known_rows)


def combinations(profiles: ClassProfiles, known_rows: int | None, chunk: int = CHUNK) -> Iterator[ProfileCombinations]:
    """Yield the combinations of classes that somebody has, each once.

    ``known_rows`` is 1 to 3, or None for all: then a combination is a whole profile. ``chunk`` bounds the people of the
    combinations of one item. Raises TooManyError where there are more than ``MOST_COMBINATIONS``.
    """
    if chunk < 1:
        raise ValueError(f"chunk must be at least 1, got {chunk}")
    if known_rows is None:
        yield from _wholes(profiles, chunk)
        return
    if not 1 <= known_rows <= LARGEST:
        raise ValueError(f"known_rows must be 1 to {LARGEST}, or None for all, got {known_rows}")
    number = number_of_combinations(profiles, known_rows)
    if number > MOST_COMBINATIONS:
        raise CombinationLimitError.of(number, known_rows)
    for size in range(1, known_rows + 1):
        yield from _of_size(profiles, size, chunk)


def _wholes(profiles: ClassProfiles, chunk: int) -> Iterator[ProfileCombinations]:
    ends = np.cumsum(profiles.people)
    at = 0
    while at < len(profiles):
        upto = max(at + 1, int(np.searchsorted(ends, (ends[at - 1] if at else 0) + chunk, side="right")))
        yield ProfileCombinations(np.arange(upto - at + 1, dtype=np.int64), np.arange(at, upto, dtype=np.int64))
        at = upto


def _of_size(profiles: ClassProfiles, size: int, chunk: int) -> Iterator[ProfileCombinations]:
    from ppdm_flow.mining.people.known_rows_kernels import multisets  # noqa: PLC0415  # compiled: takes time to start

    profile_arrays = (profiles.begins, profiles.classes, profiles.copies, profiles.people, size)
    people = float((profiles.multisets(size) * profiles.people).sum())
    loads = np.zeros((2, min(1 << 16, 1 + int(8 * people / chunk))), dtype=np.int64)
    nothing = np.empty((size, 0), dtype=np.int64)
    multisets(*profile_arrays, 0, 0, loads, nothing, nothing[0])
    ends = np.cumsum(loads[0])
    low = 0
    while low < len(ends):
        high = max(low + 1, int(np.searchsorted(ends, (ends[low - 1] if low else 0) + chunk, side="right")))
        room = int(loads[1, low:high].sum())
        if room:
            keys, owners = np.empty((size, room), dtype=np.int64), np.empty(room, dtype=np.int64)
            multisets(*profile_arrays, low, high, loads, keys, owners)
            yield _grouped(keys, owners, profiles.number_of_classes)
        low = high


def _grouped(keys: Ints, owners: Ints, classes: int) -> ProfileCombinations:
    """Bring equal keys together."""
    key = keys[0]
    for step, column in enumerate(keys[1:], 2):
        if classes**step >= _PACKED:
            key = np.unique(key, return_inverse=True)[1].astype(np.int64)
        key = key * classes + column
    order = np.argsort(key)
    key = key[order]
    first = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
    begins = np.append(first, len(key)).astype(np.int64)
    return ProfileCombinations(begins, owners[order], keys[:, order[first]])


def in_each_class(profiles: ClassProfiles, some: ProfileCombinations) -> Iterator[ProfileCombinations]:
    """Yield for each class of each combination what its people have in it: profiles are those of ``by_class``.

    Nothing of combinations of one row, which is all that is known of a class.
    """
    if some.classes is None:
        lengths = np.diff(profiles.begins)[some.profiles]
        ends = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        at = np.arange(ends[-1]) + np.repeat(profiles.begins[some.profiles] - ends[:-1], lengths)
        yield ProfileCombinations(np.arange(len(at) + 1, dtype=np.int64), at)
        return
    if len(some.classes) == 1:
        return
    number = profiles.number_of_classes
    entries = np.repeat(np.arange(len(profiles)), np.diff(profiles.begins)) * number + profiles.classes
    lengths = np.diff(some.begins)
    for i, classes in enumerate(some.classes):
        first = (some.classes[:i] != classes).all(axis=0)
        kept = np.repeat(first, lengths)
        at = np.searchsorted(entries, (some.profiles * number + np.repeat(classes, lengths))[kept])
        yield ProfileCombinations(np.concatenate([[0], np.cumsum(lengths[first])]).astype(np.int64), at)


# The classes of each linked person's rows, as a multiset; people with the same one are counted together.


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

    @property
    def by_class(self) -> ClassProfiles:
        """Each person with its rows in each of its classes by themselves, in this order, as people of their own."""
        entries = np.arange(len(self.holdings.classes) + 1, dtype=np.int64)
        lengths = np.diff(self.holdings.begins)
        of = entries[:-1] + np.repeat(self.begins[self.of] - self.holdings.begins[:-1], lengths)
        people = np.repeat(self.people, np.diff(self.begins))
        own = ClassHoldings(entries[:-1], entries, self.holdings.classes, self.holdings.copies)
        return ClassProfiles(own, of, np.arange(len(people) + 1, dtype=np.int64), self.classes, self.copies, people)

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
    class_holdings = holdings(person, class_of_row, linked)
    items = np.unique(
        class_holdings.classes * (int(class_holdings.copies.max(initial=0)) + 1) + class_holdings.copies,
        return_inverse=True,
    )[1]
    number = _numbered(class_holdings.begins, items.astype(np.int64) + 1)
    _, first, of, people = np.unique(number, return_index=True, return_inverse=True, return_counts=True)
    lengths = np.diff(class_holdings.begins)[first]
    begins = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    at = np.arange(begins[-1]) + np.repeat(class_holdings.begins[first] - begins[:-1], lengths)
    return ClassProfiles(
        class_holdings,
        of.astype(np.int64),
        begins,
        class_holdings.classes[at],
        class_holdings.copies[at],
        people.astype(np.int64),
    )


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
