"""What a reader may see: groups of people that nobody can tell apart, with what each reveals of a secret."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from adversary.crowds import Question, Release, crowds, readings, size, split
from adversary.shares import Shares, total

Values = Mapping[str, Fraction]


@dataclass(frozen=True)
class Group:
    """``rows``: what each row tells; ``distributions``: the shares that are judged; ``base``: those of everybody."""

    rows: Sequence[Values]
    distributions: Sequence[Values]
    base: Values


Figure = Callable[[Shares, Shares], float | Fraction]
"""Of shares, and of the shares of everybody."""


def worst_share(
    groups: Sequence[Group], figure: Figure, worst: Callable[..., float | Fraction]
) -> float | Fraction | None:
    """Return the worst figure over groups and their distributions; None without any."""
    found = [figure(d, g.base) for g in groups for d in g.distributions]
    return worst(found) if found else None


def worst_count(groups: Sequence[Group], count: Callable[[Sequence[Values]], int]) -> int | None:
    """Return the least count over groups."""
    return min((count(g.rows) for g in groups), default=None)


def sets_of(release: Release, attribute: str) -> list[list[frozenset[str]] | None]:
    """Return the sets of each column that depends on an attribute; None where they were drawn."""
    found: list[list[frozenset[str]] | None] = []
    for column in release.carriers(attribute):
        cells = [row[column.name] for row in release.cells]
        found.append(None if column.drawn else [frozenset(c[1:-1].split(";")) - {""} for c in cells if c[0] == "{"])
    return found


class View(Protocol):
    """What is judged as a release. ``counts_people``: its groups have sizes that requirements speak of.

    ``of_nobody``: its rows were made. ``whole``: it has all people of a release, so that somebody is counted.
    """

    counts_people: bool
    of_nobody: bool
    whole: bool

    def carries(self, attribute: str) -> bool:
        """Whether anything is revealed of an attribute."""
        ...

    def blind(self, question: Question, attribute: str) -> bool:
        """Whether nobody can say what is told."""
        ...

    def texts(self, attribute: str, value: str, *, negated: bool) -> set[str]:
        """Return the texts that count as a value."""
        ...

    def sets(self, attribute: str) -> list[list[frozenset[str]] | None]:
        """Return the sets of each column that depends on an attribute; None where they were drawn."""
        ...

    def size(self, question: Question) -> int | None:
        """Return the least number of people in a group; None where nobody can say."""
        ...

    def groups(self, question: Question, attribute: str) -> list[Group]:
        """Return every group, by every reading of what is told."""
        ...


@dataclass(frozen=True)
class Alone:
    """One release."""

    release: Release
    counts_people = True
    of_nobody = False
    whole = True

    def carries(self, attribute: str) -> bool:
        """Whether a column is computed from it."""
        return bool(self.release.carriers(attribute))

    def blind(self, question: Question, attribute: str) -> bool:
        """Whether it was drawn, or is mixed with what others know where missing values are wildcards."""
        if any(c.drawn and attribute not in c.true for c in self.release.carriers(attribute)):
            return True
        return self.release.nulls == "wildcard" and bool(split(self.release, question)[1])

    def texts(self, attribute: str, value: str, *, negated: bool) -> set[str]:
        """Return the value; other names of it are decoded."""
        return {value}

    def sets(self, attribute: str) -> list[list[frozenset[str]] | None]:
        """Return the sets of each column."""
        return sets_of(self.release, attribute)

    def size(self, question: Question) -> int | None:
        """Return the least crowd."""
        return size(self.release, question)

    def groups(self, question: Question, attribute: str) -> list[Group]:
        """Return the crowds, by originals, cells, or decoded."""
        found = []
        for told in readings(self.release, question, attribute):
            for crowd in crowds(self.release, question, list(told.rows)):
                parts = (((Fraction(1), crowd.rows),), crowd.parts)
                mixed = [total((w / len(p), told.rows[i]) for w, p in each for i in p) for each in parts]
                found.append(Group([told.rows[i] for i in crowd.rows], mixed, told.base))
        return found
