"""The people found by an adversary who knows the classes of several rows of one person: the first route.

Linked rows are seen to be one person's. An adversary who knows some of them finds the people who have them all, with
what their other linked rows reveal. Where rows are unlinked, each known row is one of its class, and a value is known
to be the person's if one of these has it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.core.people import PeopleCount
from ppdm_flow.core.roles import Nulls, Role
from ppdm_flow.mining.exposure.columns import RevealingColumns, ValueColumns, facts_of
from ppdm_flow.mining.exposure.faults import UncrowdedError
from ppdm_flow.mining.exposure.histograms import CountedCombinations, CountLayout, Histograms, ground
from ppdm_flow.mining.exposure.rows import ReleasedRows
from ppdm_flow.mining.people.figures import UncountedPeopleError
from ppdm_flow.mining.people.groups import GroupEntries, PeopleGroups
from ppdm_flow.mining.people.known_rows import (
    LARGEST,
    ClassHoldings,
    ClassProfiles,
    KnownRowsCrowds,
    crowds_of,
    holdings,
    profiles,
)
from ppdm_flow.mining.people.known_rows_groups import (
    GroupCounts,
    LinkedRowValues,
    group_counts,
    group_entries,
    least_distinct,
    told_by_people,
)
from ppdm_flow.mining.people.linkage import LinkedRowCounts, linked_rows
from ppdm_flow.mining.people.values import ToldValues, person_of, read_people, told_values
from ppdm_flow.mining.recoding.grouping import ClassCells
from ppdm_flow.mining.releases.attributes import listed
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import SPECIALS
from ppdm_flow.tables.counts import count, merge

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Truths = npt.NDArray[np.bool_]


def beside(
    columns: RevealingColumns, candidate: DataView, people: PeopleCount, ctx: AuditContext
) -> tuple[list[str], list[str]]:
    """Return the released columns that identify the person, and the others outside of the grouping ones.

    Raises UncountedPeopleError where sets of items are among these and a person has several rows: which sets and which
    items of them are one person's alone is not looked for.
    """
    outside = [c for c in candidate.schema.names if c not in columns.every]
    sets = [c for c in outside if candidate.schema[c].role is Role.ITEMS]
    if sets and _most_rows(people, ctx) > 1:
        raise UncountedPeopleError(
            f"{listed(sets)} may show which rows are one person's, and whether sets do so is not counted: release the"
            " sets apart, or bring the table to a row for each person with `one_row_each`."
        )
    outside = [c for c in outside if c not in sets]
    named = [c for c in outside if people.subject in facts_of(c, ctx).computed_from]
    return named, [c for c in outside if c not in named]


def may_link(columns: RevealingColumns, candidate: DataView, ctx: AuditContext) -> bool:
    """Return whether a row could be linked at all: not where all cells beside the grouping ones are too frequent.

    Then each combination of them has more rows than any person has, and so has each of some of them. Where rows with
    missing values are left out, those that are left may be fewer.
    """
    if ctx.people is None or ctx.owners is None or candidate.schema.weight is not None or ctx.nulls is Nulls.EXCLUDE:
        return True
    named, others = beside(columns, candidate, ctx.people, ctx)
    if named or not others:
        return bool(named)
    counts = candidate.counts(others).counts
    fewest, most = counts[counts > 0], _most_rows(ctx.people, ctx)
    return not len(fewest) or not most or int(fewest.min()) <= most


def _most_rows(people: PeopleCount, ctx: AuditContext) -> int:
    """Return how many rows of one person were released at most; 0 where none was, or nothing says whose they are."""
    pairs = () if ctx.owners is None else ctx.owners.pairs([people.subject], [])
    parts = [count(left.select([people.subject]), [people.subject]) for left, _ in pairs]
    return int(merge(parts).counts.max(initial=0)) if parts else 0


@dataclass(frozen=True, eq=False)
class KnownRows:
    """The rows of a release one by one, with their people and classes. ``by_row`` has one row in each combination."""

    by_row: CountedCombinations
    reading: ValueColumns | None
    people: PeopleCount
    linked: LinkedRowCounts
    nulls: Nulls
    beside: tuple[str, ...] = ()
    """The released columns outside of the grouping ones: first those that identify the person, then the others."""
    merged: tuple[str, ...] | None = None
    """Values are but two where these are some: any of these, and all others."""

    def merging(self, values: Sequence[str]) -> KnownRows:
        """Return the same where all that counts is whether somebody has one of these values, or another one."""
        return replace(self, merged=tuple(values))

    @classmethod
    def of(
        cls,
        columns: RevealingColumns,
        reading: ValueColumns | None,
        candidate: DataView,
        ctx: AuditContext,
        *,
        values_known: bool = True,
        chances: bool = False,
    ) -> KnownRows:
        """Read a release; ``chances``: those of unlinked rows are wanted.

        Raises UnmeasuredError where linked rows, or several known ones, have no classes.
        """
        if ctx.people is None:
            raise ValueError("the policy has no attribute with role `subject`, so people cannot be counted")
        named, others = beside(columns, candidate, ctx.people, ctx)
        layout = CountLayout.of(
            columns,
            reading,
            0,
            ctx.nulls,
            values_known=values_known,
            subject=ctx.people.subject,
            beside=(*named, *others),
        )
        counted = ground(ReleasedRows(candidate, ctx), layout)
        each = CountedCombinations(
            layout,
            np.repeat(counted.codes, counted.rows, axis=0),
            np.ones(int(counted.rows.sum()), dtype=np.int64),
            counted.categories,
            counted.left_out,
        )
        cells = [each.codes[:, place] for place in layout.beside]
        linked = linked_rows(person_of(each), cells[: len(named)], cells[len(named) :])
        require_linkable(linked.total, ctx.nulls, mixed=bool(columns.mixed))
        if chances and ctx.people.known_rows != 1:
            require_linkable(1, ctx.nulls, mixed=bool(columns.mixed))
        return cls(each, reading, ctx.people, linked, ctx.nulls, (*named, *others))

    @cached_property
    def person(self) -> Ints:
        """Whose row each is."""
        return person_of(self.by_row)

    @cached_property
    def crowd(self) -> Ints:
        """The class or crowd of each row, numbered as those of :attr:`groups`."""
        layout = self.by_row.layout
        if len(layout.mixed):
            return self.by_row.number(layout.grouping, layout.originals)
        return self.by_row.number(layout.grouping)

    @cached_property
    def groups(self) -> PeopleGroups:
        """The people of each class or crowd."""
        groups = read_people(self.by_row, self.reading, self.nulls).groups
        return groups if self.merged is None else groups.merged(self.merged)

    @cached_property
    def _values(self) -> ToldValues:
        values = told_values(self.by_row, self.reading)
        return values if self.merged is None else values.merged(self.merged)

    @cached_property
    def class_profiles(self) -> ClassProfiles:
        """The classes of linked rows, by person."""
        return profiles(self.person, self.crowd, self.linked.rows)

    @property
    def all_linked(self) -> bool:
        """Whether every row is linked."""
        return bool(self.linked.rows.all())

    @property
    def partly_linked(self) -> bool:
        """Whether some person has linked rows and others that are not."""
        rows = self.linked.rows
        return bool(np.intersect1d(self.person[rows], self.person[~rows]).size)

    @property
    def linked_by(self) -> str:
        """How many rows are linked, and by which columns, in a sentence; empty where none is."""
        if not self.linked.total:
            return ""
        counts = (*self.linked.by_pseudonym, *self.linked.by_column)
        names = [name for name, number in zip(self.beside, counts, strict=True) if number]
        by = listed(names) if names else "their cells together"
        return f" {self.linked.total:,} of {len(self.person):,} rows are seen to be one person's, by {by}."

    def smallest_crowd(self) -> KnownRowsCrowds:
        """Count the linked people who have each combination of classes. Raises UnmeasuredError for too many."""
        return crowds_of(self.class_profiles, self.people.known_rows)

    @cached_property
    def _linked_values(self) -> LinkedRowValues:
        return self._told(self.class_profiles.holdings, self.person)

    @cached_property
    def _values_in_classes(self) -> LinkedRowValues:
        """What each person tells in each of its classes."""
        held = self.class_profiles.holdings
        rows = self.linked.rows & (self.crowd >= 0)
        classes = np.unique(self.crowd[rows], return_inverse=True)[1]
        entries = np.repeat(np.arange(len(held.persons)), np.diff(held.begins)) * max(1, len(rows)) + held.classes
        entry = np.full(len(rows), -1, dtype=np.int64)
        owner = np.searchsorted(held.persons, self.person[rows])
        entry[rows] = np.searchsorted(entries, owner * max(1, len(rows)) + classes)
        return self._told(self.class_profiles.by_class.holdings, entry)

    def _told(self, class_holdings: ClassHoldings, person: Ints) -> LinkedRowValues:
        values = self._values
        some = self.linked.rows[values.at]
        return told_by_people(
            class_holdings,
            person,
            values.at[some],
            values.value[some],
            values.chance[some],
            len(values.names) + SPECIALS,
        )

    def least_distinct(self) -> int | None:
        """Return the least distinct l of linked people who have one combination; None where nobody is linked.

        A crowd of one leaves one value, and need not be matched. Raises UnmeasuredError for too many combinations.
        """
        if self.smallest_crowd().smallest == 1:
            return 1
        known = self.people.known_rows
        least = least_distinct(self.class_profiles, self._linked_values, known)
        if known == 1 or least is None:
            return least
        in_class = least_distinct(self.class_profiles, self._values_in_classes, known, in_class=True)
        return least if in_class is None else min(least, in_class)

    @property
    def names(self) -> pa.StringArray:
        """The values of :meth:`entries`, by dense code."""
        return self._values.names

    def entries(self) -> Iterator[tuple[int, GroupEntries]]:
        """Yield what linked people who have one combination have in their linked rows; see :func:`group_entries`."""
        if len(self.class_profiles):
            yield from group_entries(self.class_profiles, self._linked_values, self.people.known_rows)

    def histograms(self, *, confidences: bool) -> Iterator[Histograms]:
        """Yield the linked people of all combinations, some combinations at a time, as histograms of groups.

        A group tells what is in all linked rows of its people, or in those of one class that is known of them.
        ``confidences``: the larger share of rows and people, times the people; else each person weighs 1.
        """
        if not len(self.class_profiles):
            return
        for some in self._group_counts(self.people.known_rows):
            cells = _confidences(some) if confidences else some.weights
            yield Histograms(cells, some.people, some.rows, self.groups.base, self.groups.names)

    def _group_counts(self, known: int | None) -> Iterator[GroupCounts]:
        yield from group_counts(self.class_profiles, self._linked_values, known)
        if known != 1:
            yield from group_counts(self.class_profiles, self._values_in_classes, known, in_class=True)

    def chances(self, *, confidences: bool = True) -> Iterator[Histograms]:
        """Yield the largest chance of each value when several rows are known, linked or not, as of one group.

        Where a person has linked and unlinked rows, one known row at least may be of each kind: what linked people have
        and what the other known rows have add up to ``1 - (1 - share) (1 - chance)``, an upper bound.
        Nothing where no confidences are wanted, no more than one row is known, or all are linked.
        """
        if not confidences or self.people.known_rows == 1 or self.all_linked:
            return
        known = self.people.known_rows
        chance = self._largest_chances(known)
        if self.partly_linked:
            fewer = None if known is None else known - 1
            chance = np.maximum(chance, 1 - (1 - self._largest_shares(fewer)) * (1 - self._largest_chances(fewer)))
        some = np.flatnonzero(chance > 0)
        cells = _cells(np.array([0, len(some)], dtype=np.int64), some, chance[some])
        yield Histograms(cells, np.ones(1), np.array([len(self.person)]), self.groups.base, self.groups.names)

    def _largest_chances(self, known: int | None) -> Floats:
        """Return the chance of each value, by dense code, that one of so many known rows has it."""
        row_choices = choices(self.person, self.crowd)
        return np.asarray(largest_chances(row_choices, self.groups.amounts, known, len(self.groups.base)))

    def _largest_shares(self, known: int | None) -> Floats:
        """Return the largest confidence in each value, by dense code, of linked people who have one combination."""
        largest = np.zeros(len(self.groups.base))
        for some in self._group_counts(known):
            cells = _confidences(some)
            np.maximum.at(largest, cells.value, cells.count / some.people[cells.owner])
        return np.minimum(largest, 1.0)


def require_linkable(linked: int, nulls: Nulls, *, mixed: bool) -> None:
    """Raise UncrowdedError where rows are linked and classes are not what divides the rows."""
    if linked and (nulls is Nulls.WILDCARD or mixed):
        why = "a missing value may be any" if nulls is Nulls.WILDCARD else "columns mix grouping and sensitive values"
        raise UncrowdedError(
            f"What several rows of one person tell together cannot be told where {why}: use `nulls: own_category` and"
            " plain columns, or release no column that shows which rows are one person's and say `known_rows: 1`."
        )


def _cells(begins: Ints, value: Ints, count: Floats) -> ClassCells:
    return ClassCells(begins, value.astype(np.int32), count)  # type: ignore[arg-type]  # counts may be shares


def _confidences(some: GroupCounts) -> ClassCells:
    owner = some.having.owner
    of_people = some.having.count / some.people[owner]
    of_rows = some.with_value.count / some.rows[owner]
    return _cells(
        some.having.begins, some.having.value.astype(np.int64), np.maximum(of_people, of_rows) * some.people[owner]
    )


# The chance that one of a few known rows of a person has a value, where nobody sees which rows are one person's.
#
# Somebody knows the classes of at most m rows of a person. Each m_c of them in a class c of n rows, of which n_v have
# the value, may be any m_c of the n; that none has the value has the chance C(n - n_v, m_c) / C(n, m_c), class by
# class.


@dataclass(frozen=True, slots=True, eq=False)
class Choices:
    """Rows that an adversary may know: the rows of each person by class, and ``sizes`` (classes,), all rows of each.

    ``posted`` (classes + 1,) and ``holders`` are the people of each class, in a line.
    """

    holdings: ClassHoldings
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
    class_holdings = holdings(person, class_of_row, some)
    names = np.unique(class_of_row[some & (class_of_row >= 0)]).astype(np.int64)
    class_holdings = ClassHoldings(
        class_holdings.persons, class_holdings.begins, names[class_holdings.classes], class_holdings.copies
    )
    rows = np.bincount(class_of_row[class_of_row >= 0], minlength=number) if sizes is None else sizes
    if (class_holdings.copies > rows[class_holdings.classes]).any():
        raise ValueError("sizes must be at least the rows that one person has in the class")
    owner = np.repeat(np.arange(len(class_holdings.persons)), np.diff(class_holdings.begins))
    by_class = np.argsort(class_holdings.classes, kind="stable")
    posted = np.searchsorted(class_holdings.classes[by_class], np.arange(len(rows) + 1)).astype(np.int64)
    return Choices(class_holdings, rows.astype(np.float64), posted, owner[by_class])


def largest_chances(row_choices: Choices, cells: ClassCells, known_rows: int | None, values: int) -> Floats:
    """Return for each value, shape (values,), the largest chance over all persons and choices of known rows.

    1 - product of C(n - n_v, m_c) / C(n, m_c) over classes, for m_c known rows in each.

    Parameters
    ----------
    row_choices
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
    for value, _, chances in _by_value(row_choices, cells, known_rows):
        largest[value] = chances.max(initial=0.0)
    return largest


def chances_of(row_choices: Choices, having: npt.NDArray[Any], known_rows: int | None) -> Floats:
    """Return each person's largest chance for one value, shape (people of ``row_choices.holdings``,).

    ``having`` (classes,) are the rows of each class that have the value, as of one value of :func:`largest_chances`.
    """
    some = np.flatnonzero(having > 0)
    begins = np.searchsorted(some, np.arange(len(row_choices.sizes) + 1)).astype(np.int64)
    cells = ClassCells(begins, np.zeros(len(some), dtype=np.int32), having[some])
    out = np.zeros(len(row_choices.holdings.persons))
    for _, people, chances in _by_value(row_choices, cells, known_rows):
        out[people] = chances
    return out


def _by_value(row_choices: Choices, cells: ClassCells, known_rows: int | None) -> Iterator[tuple[int, Ints, Floats]]:
    """Yield each value, the people with a row in a class that has it, and their largest chances."""
    from ppdm_flow.mining.people.chances_kernels import lowest, people_in  # noqa: PLC0415  # compiled

    if known_rows is not None and not 1 <= known_rows <= LARGEST:
        raise ValueError(f"known_rows must be 1 to {LARGEST}, or None for all, got {known_rows}")
    if len(cells.begins) != len(row_choices.sizes) + 1:
        raise ValueError(f"cells must have {len(row_choices.sizes)} classes, got {len(cells.begins) - 1}")
    class_holdings = row_choices.holdings
    order = np.argsort(cells.value, kind="stable")
    owner, value, count = cells.owner[order], cells.value[order], cells.count[order].astype(np.float64)
    ends = np.flatnonzero(np.append(value[1:] != value[:-1], True)) + 1 if len(value) else np.zeros(0, dtype=np.int64)
    people = np.empty(len(class_holdings.persons), dtype=np.int64)
    seen = np.full(len(class_holdings.persons), -1, dtype=np.int64)
    having, escapes = np.zeros(len(row_choices.sizes)), np.ones(len(class_holdings.persons))
    begin = 0
    for end in ends.tolist():
        classes, which = owner[begin:end], int(value[begin])
        having[classes] = count[begin:end]
        many = people_in(row_choices.posted, row_choices.holders, classes, seen, begin, people)
        here = people[:many]
        lowest(
            *(
                class_holdings.begins,
                class_holdings.classes,
                class_holdings.copies,
                row_choices.sizes,
                having,
                here,
                known_rows or 0,
                escapes,
            ),
        )
        yield which, here, 1.0 - escapes[here]
        having[classes] = 0.0
        begin = end
