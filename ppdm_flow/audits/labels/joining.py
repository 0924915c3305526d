"""Looks people up in a release: finds the released rows that may be theirs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ppdm_flow.audits.labels.covering import LabelCover
from ppdm_flow.sdk.compiled import compiled

Integers = npt.NDArray[np.int64]
Truths = npt.NDArray[np.bool_]

LOOKS = 500_000_000
"""Steps from one range of classes to those within: some seconds."""
FEWEST = 1000
"""People who are looked up all the same."""
_BLOCKS, _BLOCK = 32, 64
"""By how many people it is judged how long all would take: blocks of such as follow each other in the order."""


@dataclass(frozen=True, slots=True, eq=False)
class LabelIndex:
    """Released classes, coded over all columns, and where the classes of each label of one column are.

    ``classes`` (columns, classes), ``rows`` (classes,); ``order[starts[l]:starts[l + 1]]`` are those with label ``l``.
    ``low`` and ``high`` (secrets, classes): the least and the largest code of each secret within the class.
    """

    covers: LabelCover
    value_offsets: Integers
    label_offsets: Integers
    classes: Integers
    rows: Integers
    low: Integers
    high: Integers


@dataclass(frozen=True, slots=True, eq=False)
class Matches:
    """For each person: ``rows`` that may be theirs, in ``kinds`` classes, the first of these (-1: none).

    ``low`` and ``high`` (secrets, people): the least and the largest code of each secret among these rows.
    """

    rows: Integers
    kinds: Integers
    first: Integers
    low: Integers
    high: Integers

    @property
    def linked(self) -> Truths:
        """Whose row is the only one that fits."""
        linked: Truths = self.rows == 1
        return linked

    def certain(self, secret: int) -> Truths:
        """Whose value of a secret is one and known: all rows that fit have it."""
        certain: Truths = (self.rows > 0) & (self.low[secret] == self.high[secret]) & (self.low[secret] >= 0)
        return certain

    @classmethod
    def nothing(cls, people: int, secrets: int) -> Matches:
        """Return room for what will be found."""
        low, high = (np.zeros((secrets, people), dtype=np.int64) for _ in range(2))
        rows, kinds = (np.zeros(people, dtype=np.int64) for _ in range(2))
        return cls(rows, kinds, np.full(people, -1, dtype=np.int64), low, high)


def index(covers: Sequence[LabelCover], codes: Integers, rows: Integers, low: Integers, high: Integers) -> LabelIndex:
    """Put released classes, dense ``codes`` (classes, columns), under one numbering of values and of labels."""
    values = np.concatenate([[0], np.cumsum([len(c.unknown) for c in covers])]).astype(np.int64)
    labels = np.concatenate([[0], np.cumsum([len(c.wide) for c in covers])]).astype(np.int64)
    pairs = np.concatenate([[0], np.cumsum([len(c.labels) for c in covers])]).astype(np.int64)
    none = np.zeros(0, dtype=np.int64)
    united = LabelCover(
        np.concatenate([*(c.starts[:-1] + p for c, p in zip(covers, pairs[:-1], strict=True)), pairs[-1:]]),
        np.concatenate([none, *(c.labels + o for c, o in zip(covers, labels[:-1], strict=True))]),
        np.concatenate([np.zeros(0, dtype=np.bool_), *(c.wide for c in covers)]),
        np.concatenate([np.zeros(0, dtype=np.bool_), *(c.unknown for c in covers)]),
    )
    shifted = np.ascontiguousarray((codes + labels[:-1]).T.astype(np.int64))
    return LabelIndex(united, values, labels, shifted, rows, low, high)


def look_up(
    people: Integers, persons: Integers, known: LabelIndex, looks: int | None = None
) -> tuple[Matches, Integers]:
    """Look people up, dense ``people`` (people, columns), each of whom counts as so many ``persons``.

    Where that would take more than so many ``looks``, only some of the people are, evenly spaced over the persons.

    Returns
    -------
    What was found, and how many persons each of ``people`` represents: 0 for those left out.
    """
    limit = LOOKS if looks is None else looks
    way = _SortedClasses.through(known, people + known.value_offsets[:-1])
    weights = persons.astype(np.int64)
    size = _affordable(way, persons, limit)
    if size < int(persons.sum()):
        weights = spread(persons, size)
    chosen = way.order[weights[way.order] > 0]
    matches, _ = way.run(chosen)
    return _onto(matches, chosen, len(people)), weights


def spread(persons: Integers, size: int) -> Integers:
    """Return how many of ``size`` persons, evenly spaced, are of each kind."""
    total = int(persons.sum())
    if total <= size:
        return persons.astype(np.int64)
    places = np.arange(size) * total // size
    kind = np.searchsorted(np.cumsum(persons), places, side="right")
    return np.bincount(kind, minlength=len(persons)).astype(np.int64)


def _affordable(way: _SortedClasses, persons: Integers, limit: int) -> int:
    """Return how many persons can be looked up within the limit, judged by a few: all, or an even sample of them."""
    total, kinds = int(persons.sum()), len(way.order)
    if kinds <= _BLOCKS * _BLOCK or limit >= 1 << 62:
        return total if kinds * way.classes.shape[1] <= limit else max(FEWEST, _sampled(way, persons, limit))
    begins = np.arange(_BLOCKS) * (kinds - _BLOCK) // (_BLOCKS - 1)
    neighbours = way.order[(begins[:, None] + np.arange(_BLOCK)).ravel()]
    if way.run(neighbours)[1] * kinds / len(neighbours) <= limit:
        return total
    return max(FEWEST, _sampled(way, persons, limit))


def _sampled(way: _SortedClasses, persons: Integers, limit: int) -> int:
    """Return the size of the sample: its people share fewer values, so that each of them takes more looks."""
    few = spread(persons, _BLOCKS * _BLOCK)
    chosen = way.order[few[way.order] > 0]
    return int(limit * len(chosen) / max(1, way.run(chosen)[1]))


@dataclass(frozen=True, slots=True, eq=False)
class _SortedClasses:
    """Classes and people, both sorted by the columns in the order in which they tell classes apart best.

    ``people`` (people, columns) stand as they were, ``order`` sorts them; ``opens[open_starts[k]:]`` are the labels of
    column k that fit everybody; ``places`` are those of the sorted classes among the known ones.
    """

    known: LabelIndex
    columns: Integers
    people: Integers
    order: Integers
    classes: Integers
    places: Integers
    opens: Integers
    open_starts: Integers

    @classmethod
    def through(cls, known: LabelIndex, people: Integers) -> _SortedClasses:
        """Choose the order of the columns, and sort."""
        columns = np.argsort([_share(known, people, c) for c in range(len(known.classes))], kind="stable")
        sorted_people = np.ascontiguousarray(people[:, columns].astype(np.int64))
        places = lexicographic(known.classes[columns])
        classes = np.ascontiguousarray(known.classes[columns][:, places])
        opens = [_opens(known, c) for c in columns.tolist()]
        open_starts = np.concatenate([[0], np.cumsum([len(o) for o in opens])]).astype(np.int64)
        wide = np.concatenate([np.zeros(0, dtype=np.int64), *opens])
        order = lexicographic(np.ascontiguousarray(sorted_people.T))
        return cls(known, columns, sorted_people, order, classes, places, wide, open_starts)

    def run(self, chosen: Integers) -> tuple[Matches, int]:
        """Look some people up, in the order given, and say how many looks that took."""
        known, fits, places = self.known, self.known.covers, self.places
        matches = Matches.nothing(len(chosen), len(known.low))
        sides = (matches.rows, matches.kinds, matches.first, matches.low, matches.high)
        if not len(places):
            return matches, 0
        looks = descend(
            self.people[chosen], self.classes, known.rows[places], fits.starts, fits.labels, fits.wide, fits.unknown,
            self.opens, self.open_starts, known.low[:, places], known.high[:, places], *sides,
        )  # fmt: skip
        some = matches.first >= 0
        matches.first[some] = places[matches.first[some]]
        return matches, int(looks)


def _opens(known: LabelIndex, column: int) -> Integers:
    """Return the labels of a column that fit everybody and that occur."""
    first, last = known.label_offsets[column], known.label_offsets[column + 1]
    there = np.bincount(known.classes[column] - first, minlength=last - first) > 0
    return np.asarray(first + np.flatnonzero(known.covers.wide[first:last] & there), dtype=np.int64)


def _share(known: LabelIndex, people: Integers, column: int) -> float:
    """Return how many classes fit a person in one column alone, on average."""
    fits, number = known.covers, known.classes.shape[1]
    size = np.bincount(known.classes[column], minlength=len(fits.wide)).astype(np.int64)
    wide = int(size[_opens(known, column)].sum())
    sums = np.concatenate([[0], np.cumsum(size[fits.labels])])
    of_value = np.where(fits.unknown, number, wide + sums[fits.starts[1:]] - sums[fits.starts[:-1]])
    return float(of_value[people[:, column]].mean()) if len(people) else 0.0


def _onto(matches: Matches, chosen: Integers, size: int) -> Matches:
    """Spread what was found of the chosen over all people."""
    every = Matches.nothing(size, len(matches.low))
    for mine, theirs in ((every.rows, matches.rows), (every.kinds, matches.kinds), (every.first, matches.first)):
        mine[chosen] = theirs
    every.low[:, chosen], every.high[:, chosen] = matches.low, matches.high
    return every


# Going down the classes of a release, column by column, with one person after another.
#
# Classes are sorted by their columns, so that those with one label in the first, then in the second, are one range. A
# person's values leave some ranges after each column; the next person, who shares the first values, goes on from those.


def lexicographic(codes: Integers) -> Integers:
    """Return the order of rows by ``codes`` (columns, rows), the first column first."""
    key = np.zeros(codes.shape[1], dtype=np.int64)
    radix = 1
    for column in codes if codes.shape[1] else ():
        low = int(column.min())
        width = int(column.max()) - low + 1
        if radix * width >= 1 << 62:
            distinct, key = np.unique(key, return_inverse=True)
            radix = len(distinct)
        key = key * width + (column - low)
        radix *= width
    return np.argsort(key, kind="stable")


@compiled
def _place(labels: Any, first: int, last: int, label: int) -> int:
    """Return the first place from ``first`` to ``last`` whose label is not below ``label``."""
    while first < last:
        middle = (first + last) // 2
        if labels[middle] < label:
            first = middle + 1
        else:
            last = middle
    return first


@compiled
def _fits(value: int, label: int, starts: Integers, labels: Integers, wide: Truths, unknown: Truths) -> bool:
    if wide[label] or unknown[value]:
        return True
    place = _place(labels, starts[value], starts[value + 1], label)
    return bool(place < starts[value + 1] and labels[place] == label)


@compiled
def _narrowed(
    value: int,
    line: Any,
    first: int,
    last: int,
    starts: Integers,
    labels: Integers,
    wide: Truths,
    unknown: Truths,
    opens: Integers,
    begins: Any,
    ends: Any,
    many: int,
) -> int:
    """Add the ranges within one range whose label in this column fits; return how many there are now."""
    known = starts[value + 1] - starts[value]
    if unknown[value] or last - first <= 2 * (known + len(opens)):
        while first < last:
            label = line[first]
            end = first + 1
            while end < last and line[end] == label:
                end += 1
            if _fits(value, label, starts, labels, wide, unknown):
                begins[many], ends[many] = first, end
                many += 1
            first = end
        return many
    for i in range(known + len(opens)):
        label = labels[starts[value] + i] if i < known else opens[i - known]
        begin = _place(line, first, last, label)
        if begin < last and line[begin] == label:
            begins[many], ends[many] = begin, _place(line, begin, last, label + 1)
            many += 1
    return many


@compiled
def descend(
    people: Integers,
    classes: Integers,
    rows: Integers,
    starts: Integers,
    labels: Integers,
    wide: Truths,
    unknown: Truths,
    opens: Integers,
    open_starts: Integers,
    low: Integers,
    high: Integers,
    out_rows: Integers,
    out_kinds: Integers,
    out_first: Integers,
    out_low: Integers,
    out_high: Integers,
) -> int:
    """Look sorted ``people`` (people, columns) up in sorted ``classes`` (columns, classes); return the looks taken."""
    depth = len(classes)
    begins = np.zeros((depth + 1, len(rows)), dtype=np.int32)
    ends = np.zeros((depth + 1, len(rows)), dtype=np.int32)
    sizes = np.zeros(depth + 1, dtype=np.int64)
    ends[0, 0], sizes[0] = len(rows), 1
    looks = 0
    for p in range(len(people)):
        k = 0
        while p > 0 and k < depth and people[p, k] == people[p - 1, k]:
            k += 1
        while k < depth:
            many = 0
            mine = opens[open_starts[k] : open_starts[k + 1]]
            for i in range(sizes[k]):
                value, first, last = people[p, k], begins[k, i], ends[k, i]
                looks += min(last - first, starts[value + 1] - starts[value] + len(mine) + 1)
                many = _narrowed(value, classes[k], first, last, starts, labels, wide, unknown, mine,
                                 begins[k + 1], ends[k + 1], many)  # fmt: skip
            k += 1
            sizes[k] = many
        looks += sizes[depth]
        for i in range(sizes[depth]):
            for c in range(begins[depth, i], ends[depth, i]):
                _add(p, c, rows, low, high, out_rows, out_kinds, out_first, out_low, out_high)
    return looks


@compiled
def _add(
    p: int,
    c: int,
    rows: Integers,
    low: Integers,
    high: Integers,
    out_rows: Integers,
    out_kinds: Integers,
    out_first: Integers,
    out_low: Integers,
    out_high: Integers,
) -> None:
    if out_kinds[p] == 0:
        out_first[p] = c
    for s in range(len(low)):
        if out_kinds[p] == 0 or low[s, c] < out_low[s, p]:
            out_low[s, p] = low[s, c]
        if out_kinds[p] == 0 or high[s, c] > out_high[s, p]:
            out_high[s, p] = high[s, c]
    out_rows[p] += rows[c]
    out_kinds[p] += 1
