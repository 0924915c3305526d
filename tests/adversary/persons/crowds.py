"""What a crowd reveals of its people, also to a reader who knows several of their rows: DESIGN 12, by trying all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from adversary.crowds import Question, Release, split
from adversary.lineage import Made
from adversary.shares import MISSING, matching, total

Values = Mapping[str, Fraction]
Told = Mapping[int, Values]
"""What each row reveals of a secret."""
SUBJECT = "person"
ONE, ALL = Fraction(1), "all"


@dataclass(frozen=True)
class People:
    """``who``: the person of each released row; ``known``: how many rows of one are known, None for all."""

    release: Release
    who: Sequence[str]
    known: int | None

    def rows_of(self, rows: Sequence[int]) -> dict[str, list[int]]:
        """Return the rows of each person among some."""
        found: dict[str, list[int]] = {}
        for i in rows:
            found.setdefault(self.who[i], []).append(i)
        return found

    def confidence(self, told: Told, rows: Sequence[int], value: str) -> Fraction:
        """Return the larger share with a value: of rows, and of people who have it in any row."""
        each = self.rows_of(rows).values()
        of_rows = sum((told[i].get(value, Fraction(0)) for i in rows), Fraction(0)) / len(rows)
        of_people = sum(min(ONE, sum((told[i].get(value, Fraction(0)) for i in own), Fraction(0))) for own in each)
        return max(of_rows, Fraction(of_people) / len(each))

    def distribution(self, told: Told, rows: Sequence[int]) -> dict[str, Fraction]:
        """Return the shares of values where every person weighs 1, spread over its rows."""
        each = self.rows_of(rows).values()
        return total((Fraction(1, len(own) * len(each)), told[i]) for own in each for i in own)

    def distinct(self, told: Told, rows: Sequence[int]) -> int:
        """Return the most people who can have different values, at most 1 more than may lack one."""
        each = list(self.rows_of(rows).values())
        able = [{v for i in own for v in told[i]} for own in each]
        sure = [{v for i in own for v, share in told[i].items() if share == 1} for own in each]
        lacking = [sum(v not in own for own in sure) for v in set().union(*able)]
        return min(matching([sorted(a) for a in able]), 1 + min(lacking))

    def linked(self, question: Question, rows: Sequence[int]) -> set[int]:
        """Return the rows that some columns outside of the grouping ones show to be one person's."""
        about = {c.name for side in split(self.release, question) for c in side}
        others = [c for c in self.release.columns.values() if c.name not in about]
        found = {i for c in others if SUBJECT in c.computed for i in rows if self.release.cells[i][c.name][:1] != "\0"}
        repeating = [
            c for c in others if max(Counter(self.release.cells[i][c.name] for i in rows).values(), default=0) > 1
        ]
        sizes = {1, 2, 3, len(others) - 1, len(others)} - {0, -1}
        for size in sizes:
            for some in combinations(others, size):
                found |= self._ones([c for c in some if c in repeating], rows)
        return found

    def _ones(self, columns: Sequence[Made], rows: Sequence[int]) -> set[int]:
        """Return the rows whose cells occur twice or more, and only in one person's rows."""
        cells: dict[tuple[str, ...], list[int]] = {}
        for i in rows:
            cells.setdefault(self.release.shown(i, columns), []).append(i)
        alone = [
            own
            for shown, own in cells.items()
            if len(own) > 1 and len({self.who[i] for i in own}) == 1 and set(shown) != {MISSING}
        ]
        return {i for own in alone for i in own} if columns else set()

    def choices(self, own: Sequence[int]) -> Iterator[tuple[int, ...]]:
        """Yield every set of rows of a person that may be known."""
        if self.known is None:
            yield tuple(own)
            return
        for size in range(1, min(self.known, len(own)) + 1):
            yield from combinations(own, size)

    def found(self, question: Question, rows: Sequence[int]) -> list[list[list[int]]]:
        """Return, for each set of known linked rows, those of all linked people who could have them, by person."""
        grouping, _ = split(self.release, question)
        linked = sorted(self.linked(question, rows))
        mine = self.rows_of(linked)
        have = {p: Counter(self.release.shown(i, grouping) for i in own) for p, own in mine.items()}
        every: dict[tuple[str, ...], list[list[int]]] = {}
        for own in mine.values():
            for chosen in self.choices(own):
                need = Counter(self.release.shown(i, grouping) for i in chosen)
                fits = tuple(p for p, h in have.items() if (h == need if self.known is None else need <= h))
                every[fits] = [mine[p] for p in fits]
        return list(every.values())

    def chance(self, question: Question, told: Told, value: str) -> Fraction:
        """Return the largest chance that one of the known rows has a value, each being any of its class."""
        rows = list(told)
        grouping, _ = split(self.release, question)
        classes: dict[tuple[str, ...], list[int]] = {}
        for i in rows:
            classes.setdefault(self.release.shown(i, grouping), []).append(i)
        having = {c: sum((told[i].get(value, Fraction(0)) for i in own), Fraction(0)) for c, own in classes.items()}
        best, seen = Fraction(0), set()
        for own in self.rows_of(rows).values():
            for chosen in self.choices(own):
                counts = Counter(self.release.shown(i, grouping) for i in chosen)
                if (key := frozenset(counts.items())) in seen:
                    continue
                seen.add(key)
                none = ONE
                for c, many in counts.items():
                    for i in range(many):
                        none *= max(Fraction(0), len(classes[c]) - having[c] - i) / (len(classes[c]) - i)
                best = max(best, 1 - none)
        return best
