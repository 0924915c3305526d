"""Releases of rows that a step made: they belong to nobody, and count by the original rows that they repeat.

Read from DESIGN 6a: a class of made rows counts the original rows that equal one of its rows, as made, in the columns
that depend on the known attributes. A share is the larger of the made rows', by their cells as they are, and of the
original rows' in the class. A class that repeats nobody has no size and no original shares.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from adversary.crowds import Cells, Question, Release, classes, kept, split
from adversary.groups import Group, sets_of
from adversary.lineage import Columns, places, way
from adversary.shares import MARKS, normal, total

MAKERS = ("krimp_generator", "lossy_join")
"""Steps whose rows are nobody's."""
NOBODY = 10**9
"""How many people a class has that nobody can be looked for in."""


@dataclass(frozen=True)
class Generation:
    """``made``: each released row as it was made, in ``columns``; ``learned``: what was read in the same columns.

    ``people`` are the originals of what was read, ``source`` the values that the whole source has of each attribute.
    """

    columns: Columns
    made: Sequence[Cells]
    learned: Sequence[Cells]
    people: Sequence[Cells]
    source: Mapping[str, frozenset[str]]


def last_maker(policy: Mapping[str, Any], place: str) -> str | None:
    """Return the last step on the way to a place whose rows are nobody's."""
    return next((s for s in reversed(way(policy, place)) if policy["steps"][s]["use"] in MAKERS), None)


def readable(policy: Mapping[str, Any], maker: str) -> bool:
    """Whether what a step learned from are rows of the source."""
    return last_maker(policy, read_by(policy, maker)) is None


def read_by(policy: Mapping[str, Any], step: str) -> str:
    """Return the place that a step reads."""
    before = dict(zip(policy["steps"], ["source", *policy["steps"]], strict=False))
    found: str = policy["steps"][step].get("input", before[step])
    return found


def columns_made(policy: Mapping[str, Any], maker: str) -> Columns:
    """Return what a step's rows have."""
    return places(policy)[maker]


@dataclass(frozen=True)
class Repeating:
    """A release of made rows; ``generation`` is None where they were made of made rows."""

    release: Release
    generation: Generation | None
    counts_people = True
    of_nobody = True
    whole = True

    def carries(self, attribute: str) -> bool:
        """Whether a column is computed from it."""
        return bool(self.release.carriers(attribute))

    def blind(self, question: Question, attribute: str) -> bool:
        """Whether it was drawn, or nobody can say whose rows are repeated."""
        drawn = any(c.drawn and attribute not in c.true for c in self.release.carriers(attribute))
        return drawn or self.generation is None or self._divided(question)

    def texts(self, attribute: str, value: str, *, negated: bool) -> set[str]:
        """Return the texts that may be a value: texts that the source does not have may be any."""
        if self.generation is None or negated:
            return {value}
        shown = {r[c.name] for r in self.release.cells for c in self.release.carriers(attribute)}
        return {value} | (shown - self.generation.source[attribute] - set(MARKS))

    def sets(self, attribute: str) -> list[list[frozenset[str]] | None]:
        """Return the sets of each column."""
        return sets_of(self.release, attribute)

    def size(self, question: Question) -> int | None:
        """Return the fewest original rows that a class repeats, of those that repeat some."""
        if self.generation is None or self._divided(question):
            return None
        every = replace(self, release=replace(self.release, nulls="own_category"))
        somebody = not self.release.cells or any(every._classes(question))
        return min((len(o) for _, o in self._classes(question)), default=0 if somebody else NOBODY)

    def groups(self, question: Question, attribute: str) -> list[Group]:
        """Return each class by its cells as they are, by each column, and by the original rows that it repeats."""
        found = []
        for column in self.release.carriers(attribute):
            rows = kept(self.release, question, [column])
            told = {i: {self.release.cells[i][column.name]: Fraction(1)} for i in rows}
            base = total((Fraction(1, len(rows)), t) for t in told.values())
            for _, members in classes(self.release, self._about(question), rows):
                found.append(_group([told[i] for i in members], base))
        found += self._of_originals(question, attribute)
        return found

    def _of_originals(self, question: Question, attribute: str) -> list[Group]:
        if self.generation is None:
            return []
        found = list(self._classes(question))
        people = self.generation.people
        base = total((Fraction(1), {people[o][attribute]: Fraction(1)}) for own, _ in found for o in own)
        base = normal(base)  # who is repeated in several classes counts in each
        return [_group([{people[o][attribute]: Fraction(1)} for o in sorted(every)], base) for _, every in found]

    def _divided(self, question: Question) -> bool:
        """Whether equal made cells are shown as different ones, some of which are missing and may be any."""
        generation = self.generation
        if generation is None or self.release.nulls != "wildcard":
            return False
        for known in question.known:
            shown = [c.name for c in self._about(question) if known in c.computed]
            same = [c.name for c in generation.columns.values() if known in c.computed]
            pairs = {
                (tuple(made[n] for n in same), tuple(row[n] for n in shown))
                for made, row in zip(generation.made, self.release.cells, strict=True)
            }
            if shown and len(pairs) > len({made for made, _ in pairs}):
                return True
        return False

    def _about(self, question: Question) -> list[Any]:
        grouping, mixed = split(self.release, question)
        return [*grouping, *mixed]

    def _classes(self, question: Question) -> Iterator[tuple[set[int], set[int]]]:
        """Yield the original rows that each class repeats, and those of all rows that its people may be."""
        generation = self.generation
        if generation is None:
            return
        about = self._about(question)
        asked = set(question.known) & set().union(*(c.computed for c in about))
        same = [c.name for c in generation.columns.values() if c.computed & asked]
        of_cells: dict[tuple[str, ...], set[int]] = {}
        for o, row in enumerate(generation.learned):
            of_cells.setdefault(tuple(row[n] for n in same), set()).add(o)
        repeats = [of_cells.get(tuple(row[n] for n in same), set()) for row in generation.made]
        for own, members in classes(self.release, about, kept(self.release, question)):
            mine = set[int]().union(*(repeats[i] for i in own))
            if mine:
                yield mine, mine.union(*(repeats[i] for i in members))


def _group(rows: Sequence[Mapping[str, Fraction]], base: Mapping[str, Fraction]) -> Group:
    return Group(rows, [total((Fraction(1, len(rows)), r) for r in rows)], base)
