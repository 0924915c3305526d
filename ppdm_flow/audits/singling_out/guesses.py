"""Conditions that an attacker reads off a release, or makes up: what they say, and whom they fit.

Giomi et al. 2023, section 4.1. Univariate: values that occur once in the release, and numbers at least as large as the
largest there, or as small as the smallest. Multivariate: what one released row says in some attributes, numbers from
the median on read as bounds from below, others as bounds from above. The naive attacker draws the values of the same
attributes from all that occur, each as likely, and never looks at a row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ppdm_flow.audits.singling_out.rows import Integers, Rows
from ppdm_flow.sdk.compiled import compiled, tolerant

Floats = npt.NDArray[np.float64]
Truths = npt.NDArray[np.bool_]

EQUAL, AT_LEAST, AT_MOST = 0, 1, 2


@dataclass(frozen=True, slots=True, eq=False)
class Guesses:
    """Conditions (guesses, terms): the ``columns``, -1 for no further one, the ``signs`` and the ``labels``."""

    columns: Integers
    signs: Integers
    labels: Integers

    def __len__(self) -> int:
        return len(self.columns)


def univariate(rows: Rows, attempts: int, rng: np.random.Generator) -> Guesses:
    """Return conditions on one attribute; at most ``attempts``, drawn from all that there are."""
    found = []
    for column, labels in enumerate(rows.released):
        line = rows.lines[column]
        many = np.bincount(labels, minlength=len(line.low))
        many[:2] = 0
        found += [(column, EQUAL, label) for label in np.flatnonzero(many == 1).tolist()]
        known = np.flatnonzero((many > 0) & np.isfinite(line.low) & np.isfinite(line.high))
        if line.numeric and len(known):
            found.append((column, AT_LEAST, int(known[np.argmax(line.low[known])])))
            found.append((column, AT_MOST, int(known[np.argmin(line.high[known])])))
    every = np.array(found, dtype=np.int64).reshape(-1, 3)
    if len(every) > attempts:
        every = every[np.sort(rng.permutation(len(every))[:attempts])]
    return Guesses(every[:, :1], every[:, 1:2], every[:, 2:])


def multivariate(rows: Rows, attempts: int, combined: int, rng: np.random.Generator) -> Guesses:
    """Return conditions on ``combined`` attributes (all, if there are fewer), each read off a released row."""
    columns = _drawn(len(rows.lines), attempts, combined, rng)
    row = rng.integers(0, rows.released.shape[1], attempts)
    labels = rows.released[columns, row[:, None]]
    signs = _signs(rows, columns, labels)
    distinct = np.unique(np.concatenate([columns, signs, labels], axis=1), axis=0)
    first, second, third = np.split(distinct, 3, axis=1)
    return Guesses(first, second, third)


def naive(rows: Rows, like: Guesses, rng: np.random.Generator) -> Guesses:
    """Return conditions on the same attributes with values drawn from all that occur."""
    labels = np.zeros_like(like.labels)
    for column, seen in enumerate(rows.released):
        here = like.columns == column
        known = np.unique(seen)
        labels[here] = rng.choice(known, int(here.sum()))
    signs = _signs(rows, like.columns, labels) if like.columns.shape[1] > 1 else like.signs
    return Guesses(like.columns, signs, labels)


def singled(rows: Rows, guesses: Guesses, people: Integers) -> Integers:
    """Return whom each guess fits, alone among the ``people``, codes (columns, people); -1 for nobody or several."""
    lines = rows.lines
    values = np.concatenate([[0], np.cumsum([len(line.read) for line in lines])]).astype(np.int64)
    labels = np.concatenate([[0], np.cumsum([len(line.low) for line in lines])]).astype(np.int64)
    widths = np.array([len(line.low) for line in lines], dtype=np.int64)
    keys = [np.repeat(np.arange(len(line.read)), np.diff(line.fits.starts)) * w + line.fits.labels
            for line, w in zip(lines, widths.tolist(), strict=True)]  # fmt: skip
    places = np.concatenate([[0], np.cumsum([len(k) for k in keys])]).astype(np.int64)
    found, who = np.zeros(len(guesses), dtype=np.int64), np.full(len(guesses), -1, dtype=np.int64)
    low, high = (np.concatenate([getattr(line, n) for line in lines]) for n in ("low", "high"))
    read = np.concatenate([line.read for line in lines])
    _count(guesses.columns, guesses.signs, guesses.labels, people, values, labels, widths,
           np.concatenate([np.zeros(0, dtype=np.int64), *keys]), places,
           np.concatenate([line.fits.wide for line in lines]), low, high, read, found, who)  # fmt: skip
    return np.where(found == 1, who, -1)


def _drawn(many: int, attempts: int, combined: int, rng: np.random.Generator) -> Integers:
    """Draw distinct attributes for each guess, in ascending order."""
    order = np.argsort(rng.random((attempts, many)), axis=1)[:, : min(combined, many)]
    return np.sort(order, axis=1).astype(np.int64)


def _signs(rows: Rows, columns: Integers, labels: Integers) -> Integers:
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


@tolerant
@compiled
def _count(
    columns: Integers,
    signs: Integers,
    labels: Integers,
    people: Integers,
    values: Integers,
    offsets: Integers,
    widths: Integers,
    keys: Integers,
    places: Integers,
    wide: Truths,
    low: Floats,
    high: Floats,
    read: Floats,
    found: Integers,
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
                    fit = read[values[c] + value] >= low[offsets[c] + label]
                elif signs[g, t] == AT_MOST:
                    fit = read[values[c] + value] <= high[offsets[c] + label]
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
            if fit:
                found[g] += 1
                who[g] = p
                if found[g] > 1:
                    break
