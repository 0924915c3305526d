"""Looking people up in a release: for each, the released rows that may be theirs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ppdm_flow.audits.labels.covering import Cover
from ppdm_flow.sdk.compiled import compiled, tolerant

Integers = npt.NDArray[np.int64]
Truths = npt.NDArray[np.bool_]

LOOKS = 500_000_000
"""Pairs of a person and a class that are looked at: some seconds."""
FEWEST = 1000
"""People who are looked up all the same."""


@dataclass(frozen=True, slots=True, eq=False)
class Index:
    """Released classes, coded over all columns, and where the classes of each label of one column are.

    ``classes`` (columns, classes), ``rows`` (classes,); ``order[starts[l]:starts[l + 1]]`` are those with label ``l``.
    ``low`` and ``high`` (secrets, classes): the least and the largest code of each secret within the class.
    """

    covers: Cover
    value_offsets: Integers
    label_offsets: Integers
    classes: Integers
    rows: Integers
    low: Integers
    high: Integers


@dataclass(frozen=True, slots=True, eq=False)
class Found:
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
        found: Truths = self.rows == 1
        return found

    def certain(self, secret: int) -> Truths:
        """Whose value of a secret is one and known: all rows that fit have it."""
        found: Truths = (self.rows > 0) & (self.low[secret] == self.high[secret]) & (self.low[secret] >= 0)
        return found

    @classmethod
    def nothing(cls, people: int, secrets: int) -> Found:
        """Return room for what will be found."""
        low, high = (np.zeros((secrets, people), dtype=np.int64) for _ in range(2))
        rows, kinds = (np.zeros(people, dtype=np.int64) for _ in range(2))
        return cls(rows, kinds, np.full(people, -1, dtype=np.int64), low, high)


def index(covers: Sequence[Cover], codes: Integers, rows: Integers, low: Integers, high: Integers) -> Index:
    """Put released classes, dense ``codes`` (classes, columns), under one numbering of values and of labels."""
    values = np.concatenate([[0], np.cumsum([len(c.unknown) for c in covers])]).astype(np.int64)
    labels = np.concatenate([[0], np.cumsum([len(c.wide) for c in covers])]).astype(np.int64)
    pairs = np.concatenate([[0], np.cumsum([len(c.labels) for c in covers])]).astype(np.int64)
    none = np.zeros(0, dtype=np.int64)
    whole = Cover(
        np.concatenate([*(c.starts[:-1] + p for c, p in zip(covers, pairs[:-1], strict=True)), pairs[-1:]]),
        np.concatenate([none, *(c.labels + o for c, o in zip(covers, labels[:-1], strict=True))]),
        np.concatenate([np.zeros(0, dtype=np.bool_), *(c.wide for c in covers)]),
        np.concatenate([np.zeros(0, dtype=np.bool_), *(c.unknown for c in covers)]),
    )
    shifted = np.ascontiguousarray((codes + labels[:-1]).T.astype(np.int64))
    return Index(whole, values, labels, shifted, rows, low, high)


def look_up(people: Integers, persons: Integers, known: Index, looks: int | None = None) -> tuple[Found, Integers]:
    """Look people up, dense ``people`` (people, columns) who stand for ``persons`` each.

    Where that would take more than so many ``looks``, only some of the people are, evenly spaced over the persons.

    Returns
    -------
    What was found, and how many of the looked at each of ``people`` stands for: 0 for those left out.
    """
    limit = LOOKS if looks is None else looks
    shifted = np.ascontiguousarray(people + known.value_offsets[:-1]).astype(np.int64)
    column, each = _selective(shifted, known)
    asked = persons.astype(np.int64)
    cost = float(each.sum())
    if cost > limit:
        size = max(FEWEST, int(persons.sum() * limit / cost))
        asked = spread(persons, size)
    chosen = np.flatnonzero(asked)
    found = _run(shifted[chosen], column, known)
    return _onto(found, chosen, len(people)), asked


def spread(persons: Integers, size: int) -> Integers:
    """Return how many of ``size`` persons, evenly spaced, are of each kind."""
    total = int(persons.sum())
    if total <= size:
        return persons.astype(np.int64)
    places = np.arange(size) * total // size
    kind = np.searchsorted(np.cumsum(persons), places, side="right")
    return np.bincount(kind, minlength=len(persons)).astype(np.int64)


def _selective(people: Integers, known: Index) -> tuple[int, Integers]:
    """Return the column in which the fewest classes fit, and how many that are for each person."""
    best: tuple[int, Integers] = (-1, np.full(len(people), known.classes.shape[1], dtype=np.int64))
    fits = known.covers
    for column in range(len(known.classes)):
        size = np.bincount(known.classes[column], minlength=len(fits.wide)).astype(np.int64)
        first, last = known.label_offsets[column], known.label_offsets[column + 1]
        wide = int(size[first:last][fits.wide[first:last]].sum())
        sums = np.concatenate([[0], np.cumsum(size[fits.labels])])
        of_value = np.where(fits.unknown, known.classes.shape[1], wide + sums[fits.starts[1:]] - sums[fits.starts[:-1]])
        each = of_value[people[:, column]]
        if each.sum() < best[1].sum():
            best = (column, each)
    return best


def _run(people: Integers, column: int, known: Index) -> Found:
    found = Found.nothing(len(people), len(known.low))
    line = known.classes[column] if column >= 0 else np.zeros(known.classes.shape[1], dtype=np.int64)
    order = np.argsort(line, kind="stable")
    starts = np.searchsorted(line[order], np.arange(len(known.covers.wide) + 1))
    first, last = (known.label_offsets[column], known.label_offsets[column + 1]) if column >= 0 else (0, 0)
    wide = first + np.flatnonzero(known.covers.wide[first:last])
    fits = known.covers
    sides = (known.low[:, order], known.high[:, order], found.rows, found.kinds, found.first, found.low, found.high)
    _look(people, known.classes[:, order], known.rows[order], *(fits.starts, fits.labels, fits.wide, fits.unknown),
          column, starts, wide, *sides)  # fmt: skip
    some = found.first >= 0
    found.first[some] = order[found.first[some]]
    return found


def _onto(found: Found, chosen: Integers, size: int) -> Found:
    """Spread what was found of the chosen over all people."""
    every = Found.nothing(size, len(found.low))
    for mine, theirs in ((every.rows, found.rows), (every.kinds, found.kinds), (every.first, found.first)):
        mine[chosen] = theirs
    every.low[:, chosen], every.high[:, chosen] = found.low, found.high
    return every


@compiled
def _fits(value: int, label: int, starts: Integers, labels: Integers, wide: Truths, unknown: Truths) -> bool:
    if wide[label] or unknown[value]:
        return True
    first, last = starts[value], starts[value + 1]
    while first < last:
        middle = (first + last) // 2
        if labels[middle] < label:
            first = middle + 1
        else:
            last = middle
    return bool(first < starts[value + 1] and labels[first] == label)


@tolerant
@compiled
def _look(
    people: Integers,
    classes: Integers,
    rows: Integers,
    starts: Integers,
    labels: Integers,
    wide: Truths,
    unknown: Truths,
    column: int,
    places: Integers,
    open_labels: Integers,
    low: Integers,
    high: Integers,
    out_rows: Integers,
    out_kinds: Integers,
    out_first: Integers,
    out_low: Integers,
    out_high: Integers,
) -> Any:
    """Go through the classes, sorted by ``column``, whose label fits there; -1: through all."""
    for p in range(len(people)):
        everyone = column < 0 or unknown[people[p, max(column, 0)]]
        mine = 0 if everyone else starts[people[p, column]]
        many = 1 if everyone else starts[people[p, column] + 1] - mine + len(open_labels)
        for i in range(many):
            if everyone:
                first, last = 0, len(rows)
            else:
                special = i - (many - len(open_labels))
                label = open_labels[special] if special >= 0 else labels[mine + i]
                first, last = places[label], places[label + 1]
            for c in range(first, last):
                fit = True
                for k in range(len(classes)):
                    if k != column and not _fits(people[p, k], classes[k, c], starts, labels, wide, unknown):
                        fit = False
                        break
                if fit:
                    _add(p, c, rows, low, high, out_rows, out_kinds, out_first, out_low, out_high)


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
