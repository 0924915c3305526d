"""The people of classes and crowds, and their sensitive values, as a release reveals them: the first route."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from ppdm_flow.core.people import PeopleCount
from ppdm_flow.core.roles import Nulls
from ppdm_flow.mining.exposure.columns import ReadingMethod, RevealingColumns, ValueColumns
from ppdm_flow.mining.exposure.faults import require_pairs_of_nulls
from ppdm_flow.mining.exposure.histograms import Code, CountedCombinations, CountLayout, Histograms, ground
from ppdm_flow.mining.exposure.rows import CountedRows
from ppdm_flow.mining.people.compatible_pairs import compatible_pairs
from ppdm_flow.mining.people.groups import CERTAIN, Floats, GroupEntries, Ints, PeopleGroups, merged_codes
from ppdm_flow.tables.column import SPECIALS


@dataclass(frozen=True, slots=True, eq=False)
class PeopleValues:
    """``groups`` are the people of classes or crowds. With mixed columns, ``parts`` are those of mixed cells.

    ``link`` are then crowds, parts, and the rows of the one that show the other.
    """

    reading: ValueColumns | None
    groups: PeopleGroups
    parts: PeopleGroups | None = None
    link: tuple[Ints, Ints, Ints] | None = None

    @property
    def histograms(self) -> Histograms:
        """The distributions of groups."""
        return self.groups.weights

    def merged(self, values: Sequence[str]) -> PeopleValues:
        """Return the same where values are but two: any of these, and all others."""
        parts = None if self.parts is None else self.parts.merged(values)
        return replace(self, groups=self.groups.merged(values), parts=parts)

    @property
    def confidences(self) -> tuple[Histograms, Histograms | None]:
        """The confidences of groups, and with mixed columns the means of their cells."""
        return self.groups.confidences, self.mean(None if self.parts is None else self.parts.confidences)

    def mean(self, of: Histograms | None) -> Histograms | None:
        """Return the mean shares of mixed cells, where there are any; ``of`` are histograms of the parts."""
        if of is None or self.parts is None or self.link is None:
            return None
        return self.parts.mean(of, self.link, self.groups.rows)


def people_values(
    columns: RevealingColumns,
    ways: Iterable[ValueColumns | None],
    rows: CountedRows,
    nulls: Nulls,
    people: PeopleCount,
    *,
    values_known: bool = True,
) -> list[PeopleValues]:
    """Return the people by each way of reading values; by none where nothing but their number is wanted.

    Raises UnmeasuredError where these null semantics have no crowds.
    """
    require_pairs_of_nulls(columns, nulls)
    read = []
    for way in ways:
        layout = CountLayout.of(columns, way, rows.leading, nulls, values_known=values_known, subject=people.subject)
        read.append(read_people(ground(rows, layout), way, nulls))
    return read


def read_people(counted: CountedCombinations, reading: ValueColumns | None, nulls: Nulls) -> PeopleValues:
    """Return the people of counted rows by one way of reading."""
    layout = counted.layout
    unit = counted.number((*layout.grouping, *layout.mixed))
    by_unit, base, names = _entries(counted, reading, unit)
    if len(layout.mixed):
        crowd = counted.number(layout.grouping, layout.originals)
        link = _link(crowd, unit, counted.rows)
        rows = np.bincount(crowd, counted.rows).astype(np.int64)
        groups = PeopleGroups(by_unit.moved(link[0], link[1]), rows, base, names, counted.left_out)
        parts = PeopleGroups(by_unit, np.bincount(unit, counted.rows).astype(np.int64), base, names)
        return PeopleValues(reading, groups, parts, link)
    rows = np.bincount(unit, counted.rows).astype(np.int64)
    if nulls is Nulls.WILDCARD and len(rows):
        first = np.zeros(len(rows), dtype=np.int64)
        first[unit[::-1]] = np.arange(len(unit))[::-1]
        by_unit = by_unit.moved(*compatible_pairs(counted.codes[first][:, list(layout.grouping)]))
    return PeopleValues(reading, PeopleGroups(by_unit, rows, base, names, counted.left_out))


@dataclass(frozen=True, slots=True, eq=False)
class ToldValues:
    """``at`` (entries,) is the combination that has ``value``, a dense code into ``names``, with this ``chance``."""

    at: Ints
    value: Ints
    chance: Floats
    names: pa.StringArray

    def merged(self, values: Sequence[str]) -> ToldValues:
        """Return the same where values are but two: any of these, and all others."""
        value, names = merged_codes(self.value, self.names, values)
        return ToldValues(self.at, value, self.chance, names)


def told_values(counted: CountedCombinations, reading: ValueColumns | None) -> ToldValues:
    """Return the values of combinations by one way of reading; one value for all where none are read."""
    layout, number = counted.layout, len(counted.rows)
    every, ones = np.arange(number, dtype=np.int64), np.ones(number)
    if reading is None:
        return ToldValues(every, np.full(number, SPECIALS - 1), ones, pa.array([], pa.string()))
    place = layout.shown[0] if reading.way is ReadingMethod.SHOWN else layout.value
    if place is None:
        raise ValueError("the values must be counted where cells are decoded")
    codes, names = counted.codes[:, place], counted.categories[place]
    if reading.way is not ReadingMethod.DECODED:
        return ToldValues(every, codes.astype(np.int64) + SPECIALS, ones, names)
    cell = counted.number(layout.shown)
    shares = Code.of(cell, codes, counted.rows, names).shares
    many = np.diff(shares.indptr)[cell]
    place_of = np.repeat(shares.indptr[cell] - np.cumsum(many) + many, many) + np.arange(int(many.sum()))
    return ToldValues(np.repeat(every, many), shares.indices[place_of].astype(np.int64), shares.data[place_of], names)


def person_of(counted: CountedCombinations) -> Ints:
    """Return the person whose rows each combination counts, as numbers from 0."""
    if counted.layout.person is None:
        raise ValueError("people must be counted, and no column says whose row it is")
    return counted.codes[:, counted.layout.person].astype(np.int64) + SPECIALS


def _entries(
    counted: CountedCombinations, reading: ValueColumns | None, unit: Ints
) -> tuple[GroupEntries, Floats, pa.StringArray]:
    """Return what each person has in each unit, the shares of the table by people, and the values' names."""
    row_values, person = told_values(counted, reading), person_of(counted)
    amount = counted.rows[row_values.at] * row_values.chance
    owner = person[row_values.at]
    entries = GroupEntries.of(unit[row_values.at], owner, row_values.value, amount, row_values.chance >= CERTAIN)
    return entries, _base(owner, row_values.value, amount, row_values.names), row_values.names


def _base(person: Ints, value: Ints, amount: Floats, names: pa.StringArray) -> Floats:
    """Return the share of each value in the table, where every person weighs 1, spread over its rows."""
    total = np.bincount(person, amount)
    shares = np.bincount(value, amount / total[person], len(names) + SPECIALS).astype(np.float64)
    return np.asarray(shares / max(1, int(np.count_nonzero(total))))


def _link(crowd: Ints, unit: Ints, rows: Ints) -> tuple[Ints, Ints, Ints]:
    """Return the pairs of a crowd and a unit that occur, and their rows."""
    size = int(unit.max(initial=0)) + 1
    keys, place = np.unique(crowd * size + unit, return_inverse=True)
    return keys // size, keys % size, np.bincount(place, rows, len(keys)).astype(np.int64)
