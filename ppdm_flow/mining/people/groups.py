"""Rows, values and shares of each group, counted by people.

A group is a class of released rows, or the crowd of one. Each person weighs 1 in a distribution, spread evenly over the
rows that it has in the group. A confidence is the larger of two: the share of rows with a value, and the share of
people who have it in any of their rows there. Where cells are decoded, amounts of rows are sums of probabilities.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.mining.exposure.histograms import Histograms, as_cells, largest_matching, scaled, summed
from ppdm_flow.mining.recoding.grouping import ClassCells
from ppdm_flow.tables.column import SPECIALS
from ppdm_flow.tables.numbering import joined

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
NAMED, OTHER = "\u22a5 named", "\u22a5 other"
"""Names for all of some named values, and for all others; no value of the data begins with the mark of suppression."""
CERTAIN = 1.0 - 1e-9
"""The probability of a value from which on a row is said to have it."""


@dataclass(frozen=True, slots=True, eq=False)
class GroupEntries:
    """``amount`` (entries,) of rows of ``person`` in ``owner`` (a group) with ``value``, a dense code; each once.

    They are in the order of owner, person and value. ``certain`` (entries,): some row has the value for sure.
    """

    owner: Ints
    person: Ints
    value: Ints
    amount: Floats
    certain: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, owner: Ints, person: Ints, value: Ints, amount: Floats, certain: npt.NDArray[np.bool_]) -> GroupEntries:
        """Add up what has the same owner, person and value."""
        if not len(owner):
            return cls(owner, person, value, amount, certain)
        order, first = _runs(owner, person, value)
        sure = np.maximum.reduceat(certain[order].astype(np.int8), first).astype(np.bool_)
        kept = order[first]
        return cls(owner[kept], person[kept], value[kept], np.add.reduceat(amount[order], first), sure)

    def moved(self, group: Ints, owner: Ints) -> GroupEntries:
        """Return the entries of groups that are made of owners: ``owner[i]`` belongs to ``group[i]``."""
        begins = np.searchsorted(self.owner, np.arange(int(self.owner.max(initial=-1)) + 2))
        many = begins[owner + 1] - begins[owner]
        at = np.repeat(begins[owner] - np.cumsum(many) + many, many) + np.arange(int(many.sum()))
        return GroupEntries.of(
            np.repeat(group, many), self.person[at], self.value[at], self.amount[at], self.certain[at]
        )


def _runs(*keys: Ints) -> tuple[Ints, Ints]:
    """Return the order of entries by several keys, and where each run of equal ones begins in it."""
    combined = keys[0]
    for key in keys[1:]:
        size = int(key.max(initial=0)) + 1
        if int(combined.max(initial=0)) >= (1 << 62) // size:
            order = np.lexsort(keys[::-1])
            new = np.zeros(len(order), dtype=np.bool_)
            for each in keys:
                new[1:] |= each[order][1:] != each[order][:-1]
            new[:1] = True
            return order, np.flatnonzero(new)
        combined = combined * size + key
    order = np.argsort(combined, kind="stable")
    ordered = combined[order]
    return order, np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))


@dataclass(frozen=True, eq=False)
class PeopleGroups:
    """The people of ``groups`` groups. ``rows`` (groups,) are the released rows that belong to each.

    ``names`` are the values by dense code, ``base`` (values,) their shares in the table by people. ``left_out`` counts
    the rows that the null semantics leave out.
    """

    entries: GroupEntries
    rows: Ints
    base: Floats
    names: pa.StringArray
    left_out: int = 0

    @cached_property
    def _pairs(self) -> Ints:
        """Where each person of each group begins among the entries."""
        entries = self.entries
        if not len(entries.owner):
            return np.zeros(0, dtype=np.int64)
        new = (entries.owner[1:] != entries.owner[:-1]) | (entries.person[1:] != entries.person[:-1])
        return np.flatnonzero(np.append(True, new))

    @cached_property
    def people(self) -> Ints:
        """The different people of each group (groups,)."""
        return np.bincount(self.entries.owner[self._pairs], minlength=len(self.rows)).astype(np.int64)

    @cached_property
    def sizes(self) -> Floats:
        """The rows in each group (groups,): in a crowd more than belong to it."""
        return np.bincount(self.entries.owner, self.entries.amount, len(self.rows)).astype(np.float64)

    @cached_property
    def _order(self) -> tuple[Ints, Ints]:
        """The entries by group and value, and where each of these begins."""
        if not len(self.entries.owner):
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        return _runs(self.entries.owner, self.entries.value)

    def _added(self, amounts: Floats) -> Floats:
        order, first = self._order
        return np.add.reduceat(amounts[order], first) if len(first) else np.zeros(0)

    def _cells(self, amounts: Floats) -> ClassCells:
        """Return amounts (group and value) as the cells of groups."""
        order, first = self._order
        owner, value = self.entries.owner[order[first]], self.entries.value[order[first]]
        begins = np.searchsorted(owner, np.arange(len(self.rows) + 1)).astype(np.int64)
        return ClassCells(begins, value.astype(np.int32), amounts)  # type: ignore[arg-type]  # counts may be shares

    @cached_property
    def amounts(self) -> ClassCells:
        """The rows of each group that have each value; sums of probabilities where cells are decoded."""
        return self._cells(self._added(self.entries.amount))

    def _histograms(self, amounts: Floats) -> Histograms:
        return Histograms(self._cells(amounts), self.people, self.rows, self.base, self.names, self.left_out)

    @cached_property
    def weights(self) -> Histograms:
        """The distribution of each group: every person weighs 1, spread over its rows there."""
        begins = self._pairs
        many = np.diff(np.append(begins, len(self.entries.owner)))
        rows = np.add.reduceat(self.entries.amount, begins) if len(begins) else np.zeros(0)
        return self._histograms(self._added(self.entries.amount / np.repeat(rows, many)))

    @cached_property
    def confidences(self) -> Histograms:
        """The confidence of each value in each group, times its people: the larger of both shares."""
        by_rows = self.amounts
        owner = by_rows.owner
        share = by_rows.count / np.maximum(self.sizes[owner], 1e-300)
        of_people = self._added(np.minimum(self.entries.amount, 1.0)) / np.maximum(self.people[owner], 1)
        return self._histograms(np.maximum(share, of_people) * self.people[owner])

    @cached_property
    def distinct(self) -> Ints:
        """The distinct l of each group (groups,): the largest matching of people and values, and who lacks a value.

        At most 1 more than the fewest people who may lack some value: an adversary who knows that all but a few have it
        can tell no more values apart.
        """
        order, first = self._order
        owner = self.entries.owner[order[first]]
        holders = np.diff(np.append(first, len(order)))
        certain = self._added(self.entries.certain.astype(np.float64)).astype(np.int64)
        lacking = np.full(len(self.rows), np.iinfo(np.int64).max - 1)
        np.minimum.at(lacking, owner, self.people[owner] - certain)
        return np.asarray(np.minimum(self._matched(owner, holders), lacking + 1), dtype=np.int64)

    def _matched(self, owner: Ints, holders: Ints) -> Ints:
        """Return the largest matching of each group; ``owner`` and ``holders`` are those of each group and value."""
        values = np.bincount(owner, minlength=len(self.rows)).astype(np.int64)
        by_holders = np.lexsort((holders, owner))
        begins = np.cumsum(values) - values
        place = np.arange(len(owner)) - begins[owner[by_holders]]
        scarce = owner[by_holders][holders[by_holders] <= place]  # the i-th rarest value has fewer than i holders
        if len(scarce):
            there = np.zeros(len(self.rows), dtype=np.bool_)
            there[scarce] = True
            chosen = there[self.entries.owner]
            group, value = self.entries.owner[chosen], self.entries.value[chosen]
            one, other = joined(group, self.entries.person[chosen]), joined(group, value)
            matched = largest_matching(other, one)
            at = np.zeros(int(other.max()) + 1, dtype=np.int64)
            at[other] = group
            values = np.where(there, np.bincount(at[matched >= 0], minlength=len(self.rows)), values)
        return values

    def merged(self, values: Sequence[str]) -> PeopleGroups:
        """Return the groups where values are but two: any of these is :data:`NAMED`, all else :data:`OTHER`."""
        entries = self.entries
        value, names = merged_codes(entries.value, self.names, values)
        together = GroupEntries.of(entries.owner, entries.person, value, entries.amount, entries.certain)
        every, _ = merged_codes(np.arange(len(self.base)), self.names, values)
        base = np.bincount(every, self.base, SPECIALS + len(names)).astype(np.float64)
        return PeopleGroups(together, self.rows, base, names, self.left_out)

    def mean(self, of: Histograms, link: tuple[Ints, Ints, Ints], rows: Ints) -> Histograms:
        """Return the mean shares of the owners of each crowd, where the groups are the owners.

        ``link`` are crowds, owners and rows of the one that show the other; ``rows`` (crowds,) belong to each crowd.
        """
        crowd, owner, many = link
        cells = of.cells
        share = cells.count / np.maximum(self.people[cells.owner], 1)
        within = summed(share, cells.owner, cells.value.astype(np.int64), (len(self.rows), len(self.base)))
        weights = summed(many, crowd, owner, (len(rows), len(self.rows)))
        mean = scaled(weights, 1.0 / np.maximum(rows, 1)) @ within
        return Histograms(as_cells(mean), np.ones(len(rows)), rows, self.base, self.names, self.left_out)


def merged_codes(codes: Ints, names: pa.StringArray, values: Sequence[str]) -> tuple[Ints, pa.StringArray]:
    """Return the dense codes of two values, with their names: any of ``values`` is :data:`NAMED`, all else OTHER.

    ``codes`` are dense codes into ``names``.
    """
    meant = np.flatnonzero(pc.is_in(names, pa.array(values, pa.string())).to_numpy(zero_copy_only=False)) + SPECIALS
    other = ~np.isin(codes, meant)
    return other.astype(np.int64) + SPECIALS, pa.array([NAMED, OTHER], pa.string())
