"""Groups of the people who have one combination of classes, with the values of their linked rows.

An adversary who knows the classes of a few rows of a linked person is left with the people that have them, and with all
of their linked rows; for each of the known rows, with the rows that these people have in its class. Groups are made
some at a time, in bounded memory: a figure is the worst over all of these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.exposure.histograms import as_cells, indicators, scaled, summed
from ppdm_flow.mining.people.groups import GroupEntries
from ppdm_flow.mining.people.known_rows import (
    CHUNK,
    CLEARLY_MORE,
    ClassHoldings,
    ClassProfiles,
    ProfileCombinations,
    combinations,
    in_each_class,
    profiles,
    require_few_groups,
)
from ppdm_flow.mining.recoding.grouping import ClassCells, largest

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Truths = npt.NDArray[np.bool_]
_CELLS = 1 << 21
"""Cells of values that the groups of one item have, unless one group has more."""
_CERTAIN = 1.0 - 1e-9
"""The chance from which on a row has a value for sure."""


@dataclass(frozen=True, slots=True, eq=False)
class PersonGroups:
    """Group g is the people ``persons[begins[g]:begins[g + 1]]``, by their numbers in the table."""

    begins: Ints
    persons: Ints


@dataclass(frozen=True, slots=True, eq=False)
class LinkedRowValues:
    """The values of each person's linked rows: sparse matrices (people, values), in the order of ``Holdings.persons``.

    ``having`` is 1 where some row has the value (decoded: the chance, at most the sum of the rows' chances and 1),
    ``rows`` how many rows have it, ``weights`` the share of the person's rows.
    ``certain`` is 1 where some row has the value for sure. ``counts`` (people,) are their rows.
    """

    having: Any
    rows: Any
    weights: Any
    certain: Any
    counts: Ints


@dataclass(frozen=True, eq=False)
class GroupCounts:
    """Some groups: ``people`` and ``rows`` (groups,), and cells of values, which are made when they are asked for.

    ``having`` counts the people with the value in any linked row, ``with_value`` the linked rows with it, ``weights``
    the people where each weighs 1, spread evenly over the linked rows. ``groups`` is the matrix (groups, profiles).
    """

    people: Ints
    rows: Ints
    groups: Any
    of_profiles: Mapping[str, Any]

    @cached_property
    def having(self) -> ClassCells:
        """The people with each value."""
        return as_cells(self.groups @ self.of_profiles["having"])

    @cached_property
    def with_value(self) -> ClassCells:
        """The linked rows with each value."""
        return as_cells(self.groups @ self.of_profiles["rows"])

    @cached_property
    def weights(self) -> ClassCells:
        """The people of each value, each weighing 1."""
        return as_cells(self.groups @ self.of_profiles["weights"])

    def share_of_people(self) -> Floats:
        """Return the largest share of people with one value in each group."""
        return np.asarray(largest(self.having.begins, self.having.count) / self.people, dtype=np.float64)

    def share_of_rows(self) -> Floats:
        """Return the largest share of rows with one value in each group."""
        return np.asarray(largest(self.with_value.begins, self.with_value.count) / self.rows, dtype=np.float64)


def combination_groups(
    person: npt.NDArray[np.integer],
    class_of_row: npt.NDArray[np.integer],
    linked: Truths,
    known_rows: int | None,
    chunk: int = CHUNK,
) -> Iterator[PersonGroups]:
    """Yield the people of each combination, some combinations at a time, each once.

    The arguments are those of :func:`ppdm_flow.mining.people.known_rows.smallest_crowd`; ``chunk`` bounds the people of
    one item, unless one group has more. Raises TooManyError where combinations, each counted for each person that has
    it, are more than ``MOST_COMBINATIONS``.
    """
    class_profiles = profiles(person, class_of_row, linked)
    require_few_groups(class_profiles, known_rows)
    yield from (groups_of(class_profiles, some) for some in combinations(class_profiles, known_rows, chunk))


def groups_of(class_profiles: ClassProfiles, some: ProfileCombinations) -> PersonGroups:
    """Return the people of some combinations, for their profiles."""
    by_profile = np.argsort(class_profiles.of, kind="stable")
    first = np.concatenate([[0], np.cumsum(class_profiles.people)])
    many = class_profiles.people[some.profiles]
    ends = np.concatenate([[0], np.cumsum(many)]).astype(np.int64)
    at = np.arange(ends[-1]) + np.repeat(first[some.profiles] - ends[:-1], many)
    return PersonGroups(ends[some.begins], class_profiles.holdings.persons[by_profile[at]])


def told_by_people(
    class_holdings: ClassHoldings,
    person: npt.NDArray[np.integer],
    rows: Ints,
    values: Ints,
    shares: Floats | None,
    number: int,
) -> LinkedRowValues:
    """Add up what rows reveal of their persons.

    Parameters
    ----------
    class_holdings
        The people.
    person
        (table's rows,) whose each is.
    rows, values, shares
        Rows of the table that are linked and have a class, each with a value from 0 to below ``number``, and the chance
        that this is the row's; 1 if not given. A decoded row comes once for each value that may be behind its cell.
    number
        How many values there are.
    """
    owner = np.searchsorted(class_holdings.persons, person[rows])
    if len(rows) and not np.array_equal(
        class_holdings.persons[np.minimum(owner, len(class_holdings.persons) - 1)], person[rows]
    ):
        raise ValueError("rows must be of linked people")
    counts = class_holdings.rows
    shape = len(class_holdings.persons), number
    with_value = summed(np.ones(len(rows)) if shares is None else shares, owner.astype(np.int64), values, shape)
    if (np.asarray(with_value.sum(axis=1)).ravel() > counts * CLEARLY_MORE).any():
        raise ValueError("rows must be linked rows with a class, and the chances of a row's values at most 1 together")
    having = with_value.copy()
    having.data = np.minimum(having.data, 1.0)
    sure = np.ones(len(rows), dtype=np.bool_) if shares is None else shares >= _CERTAIN
    certain = indicators(summed(np.ones(int(sure.sum())), owner[sure].astype(np.int64), values[sure], shape))
    return LinkedRowValues(having, with_value, scaled(with_value, 1.0 / counts), certain, counts)


def group_counts(
    class_profiles: ClassProfiles,
    linked_values: LinkedRowValues,
    known_rows: int | None,
    chunk: int = CHUNK,
    *,
    in_class: bool = False,
) -> Iterator[GroupCounts]:
    """Yield what the groups of all combinations tell, some at a time.

    ``in_class``: what their people tell in each class of the combination; ``linked_values`` are then those of
    ``class_profiles.by_class``. Raises TooManyError as :func:`ppdm_flow.mining.people.known_rows.combinations`.

    People of one profile are in the same groups, so they are added up first.
    """
    own = class_profiles.by_class if in_class else class_profiles
    together = summed(np.ones(len(own.of)), own.of, np.arange(len(own.of)), (len(own), len(own.of)))
    told_together = {name: together @ getattr(linked_values, name) for name in ("having", "rows", "weights")}
    rows = np.rint(together @ linked_values.counts).astype(np.int64)
    for some in _group_combinations(class_profiles, known_rows, chunk, in_class=in_class):
        for part in _parts(some, told_together["having"], min(chunk, _CELLS)):
            yield GroupCounts(part.crowds(own.people), part.crowds(rows), _matrix(part, len(own)), told_together)


def _group_combinations(
    class_profiles: ClassProfiles, known_rows: int | None, chunk: int, *, in_class: bool
) -> Iterator[ProfileCombinations]:
    for some in combinations(class_profiles, known_rows, chunk):
        yield from in_each_class(class_profiles, some) if in_class else (some,)


def least_distinct(
    class_profiles: ClassProfiles,
    linked_values: LinkedRowValues,
    known_rows: int | None,
    chunk: int = CHUNK,
    *,
    in_class: bool = False,
) -> int | None:
    """Return the least distinct l-diversity of all groups; None where nobody is linked. ``in_class`` as above.

    That of a group is the smaller of the maximum matching of people and the values that they may have, and 1 + the
    least number of people, over all values, of whom no row has the value for sure. Memory is bounded by ``chunk``, and
    by the largest group. Raises TooManyError as :func:`combination_groups`.
    """
    least: int | None = None
    place = indicators(linked_values.having)
    for number, group, who in _people_of_groups(class_profiles, place, known_rows, chunk, in_class=in_class):
        cells = place[who]
        entry = np.repeat(np.arange(len(who)), np.diff(cells.indptr))
        value = cells.indices.astype(np.int64)
        counts = as_cells(_summed_by(group, linked_values.certain[who], number))
        most = np.rint(largest(counts.begins, counts.count)).astype(np.int64)
        lacking = np.bincount(group, minlength=number) - most
        matched = _matchings(group, entry, value, place.shape[1], number)
        here = int(np.minimum(matched, lacking + 1).min())
        least = here if least is None else min(least, here)
    return least


def group_entries(
    class_profiles: ClassProfiles, linked_values: LinkedRowValues, known_rows: int | None, chunk: int = CHUNK
) -> Iterator[tuple[int, GroupEntries]]:
    """Yield what each person of each group has in its linked rows, some groups at a time, with how many these are.

    Memory is bounded as for :func:`least_distinct`. Raises TooManyError as :func:`combination_groups`.
    """
    for number, group, who in _people_of_groups(class_profiles, linked_values.rows, known_rows, chunk):
        cells = linked_values.rows[who]
        entry = np.repeat(np.arange(len(who)), np.diff(cells.indptr))
        sure = np.ones(len(entry), dtype=np.bool_)
        yield number, GroupEntries.of(group[entry], who[entry], cells.indices.astype(np.int64), cells.data, sure)


def _people_of_groups(
    class_profiles: ClassProfiles, cells: Any, known_rows: int | None, chunk: int, *, in_class: bool = False
) -> Iterator[tuple[int, Ints, Ints]]:
    """Yield how many groups there are, and of each person in one the group and the place among ``Holdings.persons``.

    Some groups at a time, of whose people ``cells`` (people, values) tell no more than ``chunk``.
    """
    require_few_groups(class_profiles, known_rows)
    own = class_profiles.by_class if in_class else class_profiles
    for some in _group_combinations(class_profiles, known_rows, chunk, in_class=in_class):
        for part in _parts(some, cells, chunk):
            groups = groups_of(own, part)
            who = np.searchsorted(own.holdings.persons, groups.persons)
            yield len(part), np.repeat(np.arange(len(part)), np.diff(groups.begins)), who


def _matchings(group: Ints, entry: Ints, value: Ints, values: int, groups: int) -> Ints:
    """Return the maximum matching of each group: ``group`` of each person, and the values of persons ``entry``."""
    from scipy.sparse import csr_matrix  # noqa: PLC0415  # most releases need none
    from scipy.sparse.csgraph import maximum_bipartite_matching  # noqa: PLC0415  # the same

    names, column = np.unique(group[entry] * values + value, return_inverse=True)
    graph = csr_matrix((np.ones(len(entry), dtype=np.int8), (entry, column)), shape=(len(group), len(names)))
    matched = maximum_bipartite_matching(graph, perm_type="column") >= 0
    return np.bincount(group[matched], minlength=groups)


def _summed_by(group: Ints, matrix: Any, groups: int) -> Any:
    """Add up the rows of a matrix by their groups."""
    at = np.arange(len(group))
    return summed(np.ones(len(group)), group, at, (groups, len(group))) @ matrix


def _matrix(some: ProfileCombinations, profiles_: int) -> Any:
    from scipy.sparse import csr_array  # noqa: PLC0415  # most releases need none

    shape = len(some), profiles_
    return csr_array((np.ones(len(some.profiles)), some.profiles, some.begins), shape=shape)


def _parts(some: ProfileCombinations, cells: Any, chunk: int) -> Iterator[ProfileCombinations]:
    """Cut combinations where what their profiles or people tell would be more than ``chunk`` cells."""
    most = max(1, chunk // max(1, int(np.ceil(cells.nnz / max(1, cells.shape[0])))))
    at = 0
    while at < len(some):
        upto = int(np.searchsorted(some.begins, some.begins[at] + most, side="right")) - 1
        upto = min(len(some), max(at + 1, upto))
        begins = some.begins[at : upto + 1]
        yield ProfileCombinations(begins - begins[0], some.profiles[begins[0] : begins[-1]])
        at = upto
