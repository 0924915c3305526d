"""Guesses: which rows of the files may be those that are known, with what weight, and with what sensitive values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import prod
from typing import Any

from adversary.reader.chances import Chances
from adversary.reader.files import MISSING, PreparedFiles, ReleasedFile, TruthExcluded
from adversary.reader.showing import Inquiry, ShownValues, can_hold, possible_values

Place = tuple[int, int]
"""A file (its number among the reader's) and a known row."""


@dataclass(frozen=True)
class Guess:
    """A row for each place, and for each known row the sensitive values that remain possible (None: all)."""

    rows: dict[Place, int]
    values: dict[int, frozenset[Any] | None]


def steady_attributes(prepared: PreparedFiles) -> frozenset[str]:
    """Attributes that differ within people at most a quarter as often as between people, or agree four times as often.

    The subject is one of them. Where nobody has two rows there is no evidence for others.
    """
    within, between = [], []
    for one, other in combinations(range(len(prepared.source)), 2):
        (within if prepared.people[one] == prepared.people[other] else between).append((one, other))
    if prepared.subject is None:
        return frozenset()
    steady = {prepared.subject}
    for attribute in prepared.source[0]:
        values = [row[attribute] for row in prepared.source]
        if not within or not between or len(set(values)) == 1:
            continue
        inside, outside = (sum(values[i] == values[j] for i, j in pairs) / len(pairs) for pairs in (within, between))
        if 1 - inside <= (1 - outside) / 4 or (inside >= 4 * outside and inside > 0):
            steady.add(attribute)
    return frozenset(steady | {a for a in prepared.source[0] if a.partition("@")[0] == prepared.subject})


class Search:
    """A reader of some files who looks for known rows of one person."""

    def __init__(self, inquiry: Inquiry, chances: Chances, files: list[ReleasedFile], known: tuple[int, ...]) -> None:
        self.inquiry, self.chances, self.files, self.known = inquiry, chances, files, known
        self.people = inquiry.prepared.people
        self.person = self.people[known[0]]
        own = [inquiry.source[k] for k, p in enumerate(self.people) if p == self.person]
        usual = steady_attributes(inquiry.prepared)
        self.steady = frozenset(a for a in usual if len({row[a] for row in own}) == 1)
        self.places = [(n, k) for n, file in enumerate(files) for k in known if self.status(file, k)]
        self.fitting = {(n, k): self._fitting_rows(files[n], k) for n, k in self.places}
        self._shares: dict[tuple[int, int, int], float] = {}

    def status(self, file: ReleasedFile, k: int) -> str | None:
        """Whether a known row is known to be present or absent in a file and sought there; None if it is not."""
        row = file.index.get(k)
        if row is None or self.inquiry.is_left_out(file, row):
            return None
        if not file.rows[row].absent:
            return "present"
        others = (g for g in self.files if g is not file)
        return "absent" if any(self._has_person(g) for g in others) else None

    def guesses(self) -> list[Guess]:
        """All guesses. Raises `TruthExcluded` if the true rows are none of them."""
        found = list(self._extended({}))
        truth = {(n, k): self.files[n].index[k] for n, k in self.places}
        if not any(guess.rows == truth for guess in found):
            raise TruthExcluded(f"known rows {self.known} in {[f.name for f in self.files]}")
        return found

    def choices(self, n: int, guesses: list[Guess], *, scaled: bool) -> dict[tuple[int, ...], float]:
        """The choices of rows of file ``n`` in guesses, with their weights; those of weight 0 are left out."""
        here = [k for m, k in self.places if m == n]
        chosen = {tuple(guess.rows[n, k] for k in here) for guess in guesses}
        weights = {
            rows: prod(self._weight(n, k, i, scaled=scaled) for k, i in zip(here, rows, strict=True)) for rows in chosen
        }
        return {rows: weight for rows, weight in weights.items() if weight > 0}

    def _has_person(self, file: ReleasedFile) -> bool:
        """Whether a file has a row of the person sought."""
        prepared = self.inquiry.prepared
        return any(not row.absent and prepared.person_of(file, i) == self.person for i, row in enumerate(file.rows))

    def _fitting_rows(self, file: ReleasedFile, k: int) -> list[int]:
        inquiry, own = self.inquiry, file.index[k]
        if file.rows[own].absent:
            absent = [i for i, row in enumerate(file.rows) if row.absent]
            known = inquiry.known_values(k, file)
            alike = [i for i in range(len(file.rows)) if inquiry.has_values(file, i, known)]
            return sorted({*absent, *(alike if self._has_person(file) else [])})
        return [
            i
            for i, row in enumerate(file.rows)
            if not row.absent
            and not inquiry.is_left_out(file, i)
            and self._open_cells_fit(file, i, own)
            and can_hold(inquiry.shown(file, i, ("mixed",), virtual=False), inquiry.known_values(k, file))
        ]

    def _open_cells_fit(self, file: ReleasedFile, row: int, own: int) -> bool:
        """Whether open cells equal those of the known row; where that has an open cell, a closed one is another."""
        for column, cell in file.cells_of(row):
            known = file.rows[own].cells[column.name] if not column.virtual else None
            kind = self.inquiry.openness(column, cell)
            if column.virtual or cell == known:
                continue
            if kind == "open" and not (self.inquiry.nulls == "wildcard" and cell is MISSING):
                return False
            if kind == "closed" and self.inquiry.openness(column, known) == "open":
                return False
        return True

    def _extended(self, rows: dict[Place, int]) -> Iterator[Guess]:
        """The guesses that begin with these rows."""
        values, shown = self._known_values(), self._shown_by(rows)
        if not can_hold(shown, values):
            return
        if len(rows) < len(self.places):
            place = self.places[len(rows)]
            for row in self.fitting[place]:
                if all(self._can_stand_together(place, row, other, j) for other, j in rows.items()):
                    yield from self._extended({**rows, place: row})
            return
        s = self.inquiry.sensitive
        yield Guess(rows, {k: possible_values(shown, values, self._named(s, k)) for k in self.known} if s else {})

    def _can_stand_together(self, one: Place, row: int, other: Place, other_row: int) -> bool:
        """Different rows of a file for different known rows; chances above 0 between the rows of one known row."""
        (n, k), (m, other_k) = one, other
        if n == m:
            index = self.files[n].index
            return (row == other_row) == (index[k] == index[other_k])
        if k != other_k:
            return True
        return bool(self.chances.between(self.files[n], self.files[m], scaled=False)[row, other_row] > 0)

    def _named(self, attribute: str, k: int) -> str:
        """An attribute of one known row, or of all where it is steady."""
        return attribute if attribute in self.steady else f"{attribute}#{k}"

    def _known_values(self) -> dict[str, Any]:
        return {self._named(a, k): v for k in self.known for a, v in self.inquiry.known_values(k).items()}

    def _shown_by(self, rows: dict[Place, int]) -> list[ShownValues]:
        """What the mixed and closed cells of these rows show, and dates that were moved together with a known one.

        But for values of the known row that have changed since.
        """
        found: list[ShownValues] = []
        for (n, k), row in rows.items():
            file = self.files[n]
            shown = [*self.inquiry.shown(file, row, ("mixed", "closed")), *self._moved_back(file, row)]
            shown = [s for s in shown if self.inquiry.changed_since(file, k).isdisjoint(s.attributes)]
            found += [s.renamed({a: self._named(a, k) for a in s.attributes}) for s in shown]
        return found

    def _moved_back(self, file: ReleasedFile, row: int) -> list[ShownValues]:
        """The source values of cells that were moved together with one whose attribute is known."""
        if file.rows[row].absent or not file.moved:
            return []
        moved = [a for name in file.moved for a in sorted(file.column(name).carries)]
        if not self.inquiry.grouping & set(moved):
            return []
        k = file.rows[row].origins[0]
        return [
            ShownValues((a,), frozenset({(self.inquiry.source[k][a],)}))
            for a in moved
            if a not in self.inquiry.grouping
        ]

    def _share(self, n: int, k: int, row: int) -> float:
        """Of the rows with this row's mixed cells that known row k can be, the part that has its known values."""
        if (n, k, row) not in self._shares:
            inquiry, file = self.inquiry, self.files[n]
            rows, attributes = inquiry.mixed_cells(file, row, virtual=False)
            open_cells = [
                shown
                for m, other in self.places
                if other == k
                for shown in inquiry.shown(self.files[m], self.files[m].index[k], ("open",), virtual=False)
            ]
            rows = [i for i in rows if inquiry.is_shown_by(file, i, attributes, open_cells)]
            values = {a: inquiry.values_in(file, k)[a] for a in attributes}
            agreeing = sum(inquiry.has_values(file, i, values) for i in rows)
            self._shares[n, k, row] = agreeing / len(rows) if rows else 0.0
        return self._shares[n, k, row]

    def _weight(self, n: int, k: int, row: int, *, scaled: bool) -> float:
        """The weight of a row of file ``n`` as a candidate for one known row."""
        weight = self._share(n, k, row)
        for (m, other), rows in self.fitting.items():
            if other == k and m != n:
                chances = self.chances.between(self.files[n], self.files[m], scaled=scaled)[row]
                weight *= sum(float(chances[j]) * self._share(m, k, j) for j in rows)
        return weight


def known_choices(inquiry: Inquiry) -> Iterator[tuple[int, ...]]:
    """The choices of source rows of one person that a reader may know."""
    for rows in inquiry.prepared.rows_by_person().values():
        most = len(rows) if inquiry.known_rows == "all" else min(int(inquiry.known_rows), len(rows))
        for number in range(1, most + 1):
            yield from combinations(rows, number)


def readers(files: list[ReleasedFile], *, apart: bool = False) -> list[list[ReleasedFile]]:
    """All files together and each file alone; only the latter where the recipients are apart."""
    alone = [[f] for f in files]
    return alone if apart or len(files) == 1 else [files, *alone]
