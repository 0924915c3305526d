"""Conditions that an attacker reads off a release, or makes up: what they say, and whom they fit.

Giomi et al. 2023, section 4.1. Univariate: values that occur once in the release, and numbers at least as large as the
largest there, or as small as the smallest. Multivariate: what one released row says in some attributes, numbers from
the median on read as bounds from below, others as bounds from above. The naive attacker draws the values of the same
attributes from all that occur, each as likely, and never looks at a row.

An attacker who has the release utters only what fits exactly one row of it: what fits several singles out nobody there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from ppdm_flow.audits.singling_out.rows import AttackRows, Integers, LabelLine
from ppdm_flow.sdk.compiled import compiled

Floats = npt.NDArray[np.float64]
Truths = npt.NDArray[np.bool_]

EQUAL, AT_LEAST, AT_MOST = 0, 1, 2
_TRIES = 20
"""So many conditions are tried at most for each guess that is wanted."""
_WORK = 4_000_000_000
"""So many comparisons of conditions with released rows at most, unless that is fewer than two for each guess."""


@dataclass(frozen=True, slots=True, eq=False)
class Guesses:
    """Conditions (guesses, terms): the ``columns``, -1 for no further one, the ``signs`` and the ``labels``."""

    columns: Integers
    signs: Integers
    labels: Integers

    def __len__(self) -> int:
        return len(self.columns)

    def take(self, places: Integers) -> Guesses:
        """Return the guesses at ``places``."""
        return Guesses(self.columns[places], self.signs[places], self.labels[places])


@dataclass(frozen=True, slots=True, eq=False)
class GuessSearch:
    """``guesses`` that fit exactly one released row each, of ``tried`` conditions; ``complete`` where these are all."""

    guesses: Guesses
    tried: int
    complete: bool


def univariate(rows: AttackRows, attempts: int, rng: np.random.Generator) -> GuessSearch:
    """Return conditions on one attribute that fit one released row; at most ``attempts``, drawn from all there are."""
    by_column = []
    for column, labels in enumerate(rows.released):
        line = rows.lines[column]
        many = _holders(labels, rows.whose[0], len(line.low))
        many[:2] = 0
        by_column += [(column, EQUAL, label) for label in np.flatnonzero(many == 1).tolist()]
        known = np.flatnonzero((many > 0) & np.isfinite(line.low) & np.isfinite(line.high))
        if line.numeric and len(known):
            by_column.append((column, AT_LEAST, int(known[np.argmax(line.low[known])])))
            by_column.append((column, AT_MOST, int(known[np.argmin(line.high[known])])))
    every = np.array(by_column, dtype=np.int64).reshape(-1, 3)
    guesses = _isolating(rows, Guesses(every[:, :1], every[:, 1:2], every[:, 2:]))
    return GuessSearch(_some(guesses, attempts, rng), len(every), complete=True)


def multivariate(rows: AttackRows, attempts: int, combined: int, rng: np.random.Generator) -> GuessSearch:
    """Return conditions on ``combined`` attributes (all, if there are fewer) that fit one released row.

    Each is read off a row that is like no other in all attributes together, since any other row has its double. All
    are tried where they are few; else they are drawn, until ``attempts`` are found or enough were tried.
    """
    alone = _alone(rows.released, rows.whose[0])
    sets = list(combinations(range(len(rows.lines)), min(combined, len(rows.lines))))
    most = max(2 * attempts, min(_TRIES * attempts, _WORK // max(1, rows.released.shape[1])))
    if len(alone) * len(sets) <= most:
        columns = np.repeat(np.array(sets, dtype=np.int64).reshape(len(sets), -1), len(alone), axis=0)
        candidates = _read_off(rows, columns, np.tile(alone, len(sets)))
        return GuessSearch(_some(_isolating(rows, candidates), attempts, rng), len(candidates), complete=True)
    parts: list[Guesses] = []
    tried = 0
    while tried < most and sum(map(len, parts)) < attempts:
        columns = _drawn(len(rows.lines), attempts, combined, rng)
        parts.append(_isolating(rows, _read_off(rows, columns, _some_of_each(alone, rows.whose[0], attempts, rng))))
        tried += attempts
    guesses = Guesses(*(np.concatenate([getattr(f, n) for f in parts]) for n in ("columns", "signs", "labels")))
    return GuessSearch(_some(_distinct(guesses), attempts, rng), tried, complete=False)


def naive(rows: AttackRows, like: Guesses, rng: np.random.Generator) -> Guesses:
    """Return conditions on the same attributes with values drawn from all that occur."""
    labels = np.zeros_like(like.labels)
    for column, seen in enumerate(rows.released):
        here = like.columns == column
        known = np.unique(seen)
        labels[here] = rng.choice(known, int(here.sum()))
    signs = _signs(rows, like.columns, labels) if like.columns.shape[1] > 1 else like.signs
    return Guesses(like.columns, signs, labels)


def singled(lines: Sequence[LabelLine], guesses: Guesses, people: Integers, whose: Integers | None = None) -> Integers:
    """Return whom each guess fits, alone among the ``people``, codes (columns, rows); -1 for nobody or several.

    ``whose`` (rows,) are their numbers, where a person may have several rows.
    """
    owner = np.arange(people.shape[1], dtype=np.int64) if whose is None else whose
    values = np.concatenate([[0], np.cumsum([len(line.least) for line in lines])]).astype(np.int64)
    labels = np.concatenate([[0], np.cumsum([len(line.low) for line in lines])]).astype(np.int64)
    widths = np.array([len(line.low) for line in lines], dtype=np.int64)
    keys = [np.repeat(np.arange(len(line.least)), np.diff(line.fits.starts)) * w + line.fits.labels
            for line, w in zip(lines, widths.tolist(), strict=True)]  # fmt: skip
    places = np.concatenate([[0], np.cumsum([len(k) for k in keys])]).astype(np.int64)
    hits, who = np.zeros(len(guesses), dtype=np.int64), np.full(len(guesses), -1, dtype=np.int64)
    low, high, least, most = (
        np.concatenate([getattr(line, n) for line in lines]) for n in ("low", "high", "least", "most")
    )
    _count(guesses.columns, guesses.signs, guesses.labels, people, owner, values, labels, widths,
           np.concatenate([np.zeros(0, dtype=np.int64), *keys]), places,
           np.concatenate([line.fits.wide for line in lines]), low, high, least, most, hits, who)  # fmt: skip
    return np.where(hits == 1, who, -1)


def _isolating(rows: AttackRows, guesses: Guesses) -> Guesses:
    """Return those that fit exactly one released row."""
    if not len(guesses):
        return guesses
    lines = [line.released for line in rows.lines]
    return guesses.take(np.flatnonzero(singled(lines, guesses, rows.released, rows.whose[0]) >= 0))


def _holders(labels: Integers, whose: Integers, size: int) -> Integers:
    """Return how many people have each label (size,)."""
    people = int(whose.max(initial=-1)) + 1
    if people < len(whose):
        labels = np.unique(labels * people + whose) // people
    return np.bincount(labels, minlength=size).astype(np.int64)


def _some_of_each(alone: Integers, whose: Integers, attempts: int, rng: np.random.Generator) -> Integers:
    """Return rows of people that are drawn, each as likely; of who is drawn again another row, if there is one."""
    who, first, place = np.unique(whose[alone], return_index=True, return_inverse=True)
    rank = np.empty(len(who), dtype=np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(len(who))
    order = np.argsort(rank[place.reshape(-1)], kind="stable")
    many = np.bincount(rank[place.reshape(-1)])
    drawn = rng.choice(len(who), attempts)
    begins = np.cumsum(many) - many
    return alone[order[begins[drawn] + np.arange(attempts) % many[drawn]]]


def _alone(released: Integers, whose: Integers) -> Integers:
    """Return the rows of codes (columns, rows) that are like no other, but rows of the same person."""
    keys = np.zeros(released.shape[1], dtype=np.int64)
    for codes in released:
        _, keys = np.unique(keys * (int(codes.max(initial=0)) + 1) + codes, return_inverse=True)
    return np.flatnonzero(_holders(keys, whose, int(keys.max(initial=-1)) + 1)[keys] == 1)


def _read_off(rows: AttackRows, columns: Integers, places: Integers) -> Guesses:
    """Return what the rows at ``places`` say in ``columns`` (guesses, terms), each condition once."""
    labels = rows.released[columns, places[:, None]]
    return _distinct(Guesses(columns, _signs(rows, columns, labels), labels))


def _distinct(guesses: Guesses) -> Guesses:
    every = np.unique(np.concatenate([guesses.columns, guesses.signs, guesses.labels], axis=1), axis=0)
    return Guesses(*np.split(every, 3, axis=1))


def _some(guesses: Guesses, most: int, rng: np.random.Generator) -> Guesses:
    if len(guesses) <= most:
        return guesses
    return guesses.take(np.sort(rng.permutation(len(guesses))[:most]))


def _drawn(many: int, attempts: int, combined: int, rng: np.random.Generator) -> Integers:
    """Draw distinct attributes for each guess, in ascending order."""
    order = np.argsort(rng.random((attempts, many)), axis=1)[:, : min(combined, many)]
    return np.sort(order, axis=1).astype(np.int64)


def _signs(rows: AttackRows, columns: Integers, labels: Integers) -> Integers:
    signs = np.zeros_like(columns)
    for column, line in enumerate(rows.lines):
        if not line.numeric:
            continue
        here = columns == column
        size = line.low[labels[here]]
        ends = np.isfinite(size) & np.isfinite(line.high[labels[here]])
        seen = line.low[rows.released[column]]
        seen = seen[np.isfinite(seen)]
        middle = np.median(seen) if len(seen) else 0.0
        signs[here] = np.where(ends, np.where(size >= middle, AT_LEAST, AT_MOST), EQUAL)
    return signs


@compiled
def _count(
    columns: Integers,
    signs: Integers,
    labels: Integers,
    people: Integers,
    whose: Integers,
    values: Integers,
    offsets: Integers,
    widths: Integers,
    keys: Integers,
    places: Integers,
    wide: Truths,
    low: Floats,
    high: Floats,
    least: Floats,
    most: Floats,
    hits: Integers,
    who: Integers,
) -> Any:
    """Count the people whom each guess fits, up to 2."""
    for g in range(len(columns)):
        for p in range(people.shape[1]):
            fit = True
            for t in range(columns.shape[1]):
                c = columns[g, t]
                label, value = labels[g, t], people[c, p]
                if signs[g, t] == AT_LEAST:
                    fit = least[values[c] + value] >= low[offsets[c] + label]
                elif signs[g, t] == AT_MOST:
                    fit = most[values[c] + value] <= high[offsets[c] + label]
                elif not wide[offsets[c] + label]:
                    key = value * widths[c] + label
                    first, last = places[c], places[c + 1]
                    while first < last:
                        middle = (first + last) // 2
                        if keys[middle] < key:
                            first = middle + 1
                        else:
                            last = middle
                    fit = first < places[c + 1] and keys[first] == key
                if not fit:
                    break
            if fit and (hits[g] == 0 or whose[p] != who[g]):
                hits[g] += 1
                who[g] = whose[p]
                if hits[g] > 1:
                    break
