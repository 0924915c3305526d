"""Several releases of one run: joined where rows have names of their own, and intersected by people (DESIGN 6a)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations

from adversary.crowds import Crowd, Question, Release, Told, crowds, readings
from adversary.groups import Alone, Group, Values, View, sets_of
from adversary.lineage import Made
from adversary.shares import MARKS, normal, total

ABSENT = "\0absent"
"""What a side has of a person whose row it does not have, or cannot be told."""


def joined(one: Release, two: Release) -> Release | None:
    """Return both releases as one table, a row for each joined pair and each row alone; None where none can be joined.

    A pair is one person's: by equal pseudonyms made of the same, or by all columns that both releases have, where the
    cells occur once in each.
    """
    places = {o: j for j, o in enumerate(two.origins)}
    common = [(i, places[o]) for i, o in enumerate(one.origins) if o in places]
    pairs = _keyed(one, two, common) | _unique(one, two, common)
    if not pairs:
        return None
    twins = _twins(one, two, common)
    left, right = {i for i, _ in pairs}, {j for _, j in pairs}
    lines: list[tuple[int | None, int | None]] = [*sorted(pairs)]
    lines += [(i, None) for i in range(len(one.cells)) if i not in left]
    lines += [(None, j) for j in range(len(two.cells)) if j not in right]
    columns = {f"1.{n}": c for n, c in one.columns.items()}
    columns |= {f"2.{n}": c for n, c in two.columns.items() if n not in twins.values()}
    cells, people, origins = [], [], []
    for i, j in lines:
        row = {f"1.{n}": ABSENT for n in one.columns} | {f"2.{n}": ABSENT for n in two.columns}
        if j is not None:
            row |= {f"2.{n}": c for n, c in two.cells[j].items()}
            row |= {f"1.{a}": two.cells[j][b] for a, b in twins.items()}
            people.append(two.people[j])
            origins.append(two.origins[j])
        if i is not None:
            row |= {f"1.{n}": c for n, c in one.cells[i].items()}
        if i is not None and j is None:
            people.append(one.people[i])
            origins.append(one.origins[i])
        cells.append({n: row[n] for n in columns})
    return Release({n: replace(c, name=n) for n, c in columns.items()}, cells, people, origins, one.nulls)


Pairs = Sequence[tuple[int, int]]


def shared(one: Release, two: Release) -> list[tuple[Made, Made]]:
    """Return the columns to which the same was done in both releases."""
    return [(a, b) for a in one.columns.values() for b in two.columns.values() if a.way == b.way]


def secret_names(one: Release, two: Release) -> list[tuple[Made, Made]]:
    """Return the columns that are made of the same, something of it with a key."""
    keyed = [[c for c in r.columns.values() if c.computed - c.bare] for r in (one, two)]
    return [(a, b) for a in keyed[0] for b in keyed[1] if a.computed == b.computed]


def _keyed(one: Release, two: Release, common: Pairs) -> set[tuple[int, int]]:
    """Return the rows of one person with equal pseudonyms."""
    return {
        (i, j)
        for a, b in secret_names(one, two)
        for i, j in common
        if one.cells[i][a.name] == two.cells[j][b.name] and one.cells[i][a.name] not in MARKS
    }


def _unique(one: Release, two: Release, common: Pairs) -> set[tuple[int, int]]:
    """Return the rows of one person whose shared cells occur once in each release."""
    both = shared(one, two)
    if not both:
        return set()
    left = [one.shown(i, [a for a, _ in both]) for i in range(len(one.cells))]
    right = [two.shown(j, [b for _, b in both]) for j in range(len(two.cells))]
    return {(i, j) for i, j in common if left[i] == right[j] and left.count(left[i]) == right.count(right[j]) == 1}


def _twins(one: Release, two: Release, common: Pairs) -> dict[str, str]:
    """Return the columns that are in the joined table once: of the first release, with that of the second."""
    found = {a.name: b.name for a, b in shared(one, two)}
    for a, b in secret_names(one, two):
        alike = all(one.cells[i][a.name] == two.cells[j][b.name] for i, j in common)
        if alike and a.name not in found and b.name not in found.values():
            found[a.name] = b.name
    return found


@dataclass(frozen=True)
class Dropped:
    """People of ``release`` that another one lacks because a step dropped them for what their cells are."""

    release: Release
    rows: tuple[int, ...]
    counts_people = True
    of_nobody = False
    whole = False

    def carries(self, attribute: str) -> bool:
        """Whether the release that has them tells anything."""
        return Alone(self.release).carries(attribute)

    def blind(self, question: Question, attribute: str) -> bool:
        """Whether nobody can say what it tells."""
        return Alone(self.release).blind(Question((), question.secret), attribute)

    def texts(self, attribute: str, value: str, *, negated: bool) -> set[str]:
        """Return the value itself."""
        return Alone(self.release).texts(attribute, value, negated=negated)

    def sets(self, attribute: str) -> list[list[frozenset[str]] | None]:
        """Return the sets of each column."""
        return sets_of(self.release, attribute)

    def size(self, _question: Question) -> int | None:
        """Return how many they are."""
        return len(self.rows)

    def groups(self, question: Question, attribute: str) -> list[Group]:
        """Return them as one group, decoded or by their originals."""
        told = readings(self.release, question, attribute)[0]
        mine = [told.rows[i] for i in self.rows if i in told.rows]
        return [Group(mine, [total((Fraction(1, len(mine)), r) for r in mine)], told.base)] if mine else []


@dataclass(frozen=True)
class Intersected:
    """The groups of one release, with what another one leaves possible for their people.

    ``missing`` are people of ``own`` that the other lacks because a step dropped them: a class of it.
    """

    own: Release
    other: Release
    missing: tuple[int, ...] = ()
    counts_people = False
    of_nobody = False
    whole = True

    def carries(self, attribute: str) -> bool:
        """Whether both reveal it, or the other reveals it by absences: else nothing is to be intersected."""
        return bool(self.own.carriers(attribute)) and bool(self.other.carriers(attribute) or self.missing)

    def blind(self, question: Question, attribute: str) -> bool:
        """Whether nobody can say: then it is said of that release alone."""
        return False

    def texts(self, attribute: str, value: str, *, negated: bool) -> set[str]:
        """Return the value itself."""
        return Alone(self.own).texts(attribute, value, negated=negated)

    def sets(self, attribute: str) -> list[list[frozenset[str]] | None]:
        """Return the sets of each column."""
        return sets_of(self.own, attribute)

    def size(self, _question: Question) -> int | None:
        """Return nothing: sizes of intersections gate only where the policy asks for it."""
        return None

    def groups(self, question: Question, attribute: str) -> list[Group]:
        """Return the crowd of every person that the other has, too, restricted to what is possible in both."""
        if any(Alone(r).blind(question, attribute) for r in (self.own, self.other)):
            return []
        found = []
        mine, own = _crowds_of(self.own, question, attribute)
        theirs, other = _crowds_of(self.other, question, attribute) if self.other.carriers(attribute) else ({}, own)
        gone = {self.own.origins[i]: Crowd(self.missing, ()) for i in self.missing}
        for origin, crowd in mine.items():
            if origin in theirs:
                values = _possible(other, theirs[origin])
            elif origin in gone:
                values = _possible(own, gone[origin])
            else:  # the other says nothing of them
                values = _possible(own, crowd)
            found.append(_restricted(own, crowd, values))
        return found


def _crowds_of(release: Release, question: Question, attribute: str) -> tuple[Mapping[int, Crowd], Told]:
    """Return the crowd of each person, and what rows tell: decoded, else the originals."""
    told = readings(release, question, attribute)[0]
    found = {}
    for crowd in crowds(release, question, list(told.rows)):
        for i in crowd.people:
            found[release.origins[i]] = crowd
    return found, told


def _possible(told: Told, crowd: Crowd) -> set[str]:
    return {v for i in crowd.rows if i in told.rows for v in told.rows[i]}


def _restricted(told: Told, crowd: Crowd, values: set[str]) -> Group:
    def left(shares: Values) -> Values:
        return {v: p for v, p in shares.items() if v in values}

    parts = (((Fraction(1), crowd.rows),), crowd.parts)
    mixed = [total((w / len(p), told.rows[i]) for w, p in each for i in p) for each in parts]
    return Group([left(told.rows[i]) for i in crowd.rows], [normal(left(m)) for m in mixed], told.base)


@dataclass(frozen=True)
class Seen:
    """A ``view`` on several releases; ``of`` is the place of the release that it is judged for, if it is for one."""

    kind: str
    view: View
    of: int | None = None


def together(releases: Sequence[Release], dropped: Mapping[tuple[int, int], tuple[int, ...]]) -> Iterator[Seen]:
    """Yield what somebody with all releases sees; ``dropped`` are rows of one that a step dropped from another."""
    for i, j in combinations(range(len(releases)), 2):
        both = joined(releases[i], releases[j])
        if both is not None:
            yield Seen("joined", Alone(both))
        for one, two in ((i, j), (j, i)):
            gone = dropped.get((one, two), ())
            yield Seen("intersected", Intersected(releases[one], releases[two], gone), one)
            if gone:
                yield Seen("dropped", Dropped(releases[one], gone), one)


def fewest(own: Release, before: Sequence[Release], known: Sequence[str]) -> int:
    """Return the fewest people whom the classes of a release and of those before it leave together.

    To be absent is a class, too; who is gone from ``own`` counts where their class before has somebody who is not.
    Classes are finer than those of DESIGN 6a, and so never less strict: missing cells are values under every policy,
    ids of classes are known however they are made, and mixed columns form classes, not crowds.
    """
    everybody = {o for r in (own, *before) for o in r.origins}
    here, *there = [_classes(r, set(known), everybody) for r in (own, *before)]
    sizes = []
    for person in everybody:
        earlier = everybody.intersection(*(t[person] for t in there))
        if person in own.origins or earlier & set(own.origins):
            sizes.append(len(earlier & here[person]))
    return min(sizes, default=0)


def _classes(release: Release, known: set[str], everybody: set[int]) -> dict[int, set[int]]:
    """Return of everybody who they may be: those of their class, or all who are absent."""
    columns = [c for c in release.columns.values() if c.computed & known or c.way[0] not in c.computed]
    found = dict.fromkeys(everybody, everybody - set(release.origins))
    for i, origin in enumerate(release.origins):
        mine = release.shown(i, columns)
        found[origin] = {o for j, o in enumerate(release.origins) if release.shown(j, columns) == mine}
    return found
