"""Somebody who knows several rows of one person, tried out: every set of known rows of everybody, on small tables."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from math import comb

import numpy as np

Row = tuple[int, tuple[str | None, ...], str | None, str | None]
"""A person, the grouping cells, a cell that may link, a sensitive value; None is missing, and a value of its own."""
LISTED = 3000


@dataclass(frozen=True)
class Small:
    """A table; ``linked`` says which rows are seen to be one person's."""

    rows: list[Row]
    linked: list[bool]

    @property
    def classes(self) -> list[int]:
        """The class of each row: equal grouping cells, a missing one like any other."""
        names = {cells: i for i, cells in enumerate(sorted({r[1] for r in self.rows}, key=repr))}
        return [names[r[1]] for r in self.rows]

    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Person, class and whether linked, by row."""
        return np.array([r[0] for r in self.rows]), np.array(self.classes), np.array(self.linked, dtype=bool)

    def of(self, person: int, *, linked: bool) -> list[int]:
        """The rows of a person."""
        return [i for i, r in enumerate(self.rows) if r[0] == person and (self.linked[i] or not linked)]

    @property
    def people(self) -> list[int]:
        return sorted({r[0] for r in self.rows})


def small(seed: int, most: int = 20) -> Small:
    """A random table of 1 to 6 people with 1 to ``most`` rows each; some repeat the classes of another one."""
    rng = random.Random(seed)
    width, values = rng.randint(1, 2), rng.randint(1, 4)
    cells = [None, *"abc"[: rng.randint(1, 3)]]
    rows: list[Row] = []
    for person in range(rng.randint(1, 6)):
        before = [r[1] for r in rows if r[0] == person - 1]
        if before and rng.random() < 0.4:
            groups = before[: rng.randint(1, len(before))] if rng.random() < 0.3 else before
        else:
            groups = [tuple(rng.choice(cells) for _ in range(width)) for _ in range(rng.randint(1, most))]
        for group in groups:
            link = rng.choice([None, f"p{person}", f"p{person}", "x", "⊥"])
            rows.append((person, group, link, rng.choice([None, *"uvwz"[:values]])))
    rng.shuffle(rows)
    return Small(rows, [rng.random() < 0.8 for _ in rows] if seed % 3 else [True] * len(rows))


def linked_by_cell(people: list[int], cells: list[object]) -> list[bool]:
    """The rows whose cell is not missing, is in two rows, and only in one person's."""
    whose: dict[object, list[int]] = {}
    for p, c in zip(people, cells, strict=True):
        whose.setdefault(c, []).append(p)
    return [c is not None and len(whose[c]) > 1 and len(set(whose[c])) == 1 for c in cells]


def choices(table: Small, person: int, known: int | None, *, linked: bool) -> Iterator[tuple[int, ...]]:
    """Every set of at most ``known`` rows of a person; all of them for None."""
    rows = table.of(person, linked=linked)
    if known is None:
        yield tuple(rows)
        return
    for size in range(1, known + 1):
        yield from combinations(rows, size)


def crowds(table: Small, known: int | None) -> dict[tuple[int, ...], set[int]]:
    """For each multiset of classes that one linked person is known by: the linked people that have it."""
    group = table.classes
    have = {p: Counter(group[i] for i in table.of(p, linked=True)) for p in table.people}
    found: dict[tuple[int, ...], set[int]] = {}
    for person in table.people:
        for chosen in choices(table, person, known, linked=True):
            wanted = tuple(sorted(group[i] for i in chosen))
            if wanted and wanted not in found:
                need = Counter(wanted)
                found[wanted] = {p for p, h in have.items() if (h == need if known is None else need <= h)}
    return found


def largest_chance(table: Small, value: str | None, known: int | None) -> Fraction:
    """The largest chance that one of the known rows has the value, over everybody and every choice."""
    group = table.classes
    sizes = Counter(group)
    having = Counter(g for g, r in zip(group, table.rows, strict=True) if r[3] == value)
    found, seen = Fraction(0), set()
    for person in table.people:
        for chosen in choices(table, person, known, linked=False):
            counts = tuple(sorted(Counter(group[i] for i in chosen).items()))
            if counts not in seen:
                seen.add(counts)
                none = Fraction(1)
                for g, many in counts:
                    none *= without(sizes[g], having[g], many)
                found = max(found, 1 - none)
    return found


@cache
def without(rows: int, having: int, known: int) -> Fraction:
    """The share of all sets of ``known`` of the rows in which no row has the value: listed where there are few."""
    if comb(rows, known) > LISTED:
        return Fraction(comb(rows - having, known), comb(rows, known))
    sets = list(combinations(range(rows), known))
    return Fraction(sum(min(chosen) >= having for chosen in sets), len(sets))


def told(table: Small, known: int | None, *, in_class: bool) -> Iterator[list[list[str | None]]]:
    """For each crowd the values of each of its people: of all linked rows, or of those in one class that is known."""
    group = table.classes
    for wanted, crowd in crowds(table, known).items():
        if not in_class:
            yield [[table.rows[i][3] for i in table.of(p, linked=True)] for p in sorted(crowd)]
        elif known is None or len(wanted) > 1:
            for one in sorted(set(wanted)):
                yield [[table.rows[i][3] for i in table.of(p, linked=True) if group[i] == one] for p in sorted(crowd)]


def shares(
    table: Small, known: int | None, *, in_class: bool = False
) -> tuple[Fraction, Fraction, dict[str | None, Fraction]]:
    """Of all crowds the largest share of people and of rows with one value; and of evenly spread weights, by value."""
    people, rows, weights = Fraction(0), Fraction(0), {}
    for mine in told(table, known, in_class=in_class):
        every = [v for values in mine for v in values]
        for value in set(every):
            people = max(people, Fraction(sum(value in values for values in mine), len(mine)))
            rows = max(rows, Fraction(every.count(value), len(every)))
            share = sum(Fraction(values.count(value), len(values)) for values in mine) / len(mine)
            weights[value] = max(weights.get(value, Fraction(0)), share)
    return people, rows, weights


def least_distinct(table: Small, known: int | None, *, in_class: bool = False) -> int | None:
    """The least distinct l-diversity of all crowds: by trying every way to give people values of theirs."""
    least = []
    for values in told(table, known, in_class=in_class):
        mine = [sorted(set(own), key=repr) for own in values]
        matched = max(len(set(way)) for way in product(*mine))
        lacking = min(sum(v not in own for own in mine) for v in {v for own in mine for v in own})
        least.append(min(matched, 1 + lacking))
    return min(least, default=None)
