"""The groups that a requirement is judged on: candidates for a known row in a file, with weights and values."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from adversary.reader.chances import Chances
from adversary.reader.files import ReleasedFile
from adversary.reader.guesses import Guess, Search, known_choices, readers
from adversary.reader.showing import ABSENT_CELL, Inquiry, ShownValues, can_hold

SOURCE = "source"
STEADY = "steady"
READ_AS_SHOWN = ("exchanged", "averaged", "noisy")

Distribution = dict[Any, float]
People = tuple[Distribution, ...]
"""Of each of the people who share somebody's steady cells, the sums of the probabilities of values in these rows."""


@dataclass(frozen=True)
class Candidate:
    """A row that may be the known one.

    ``readings`` has probabilities of the sensitive values: as source values, and for columns with exchanged, averaged
    or noisy cells as shown. ``sharing`` has, for each file, the people with the same steady cells.
    """

    row: int
    unit: Any
    weight: float
    readings: dict[str, Distribution]
    sharing: tuple[People, ...] = ()

    def probabilities(self, reading: str) -> Distribution:
        """The probabilities by a reading; by that as source values where the candidate has no such reading."""
        if reading == STEADY and self.sharing:
            values = {v for people in self.sharing for sums in people for v in sums}
            return {v: self.chance(reading, {v}) for v in values}
        return self.readings.get(reading, self.readings[SOURCE])

    def chance(self, reading: str, values: set[Any] | frozenset[Any]) -> float:
        """The chance of having one of some values."""
        if reading == STEADY and self.sharing:
            return max(
                sum(min(1.0, sum(p for v, p in sums.items() if v in values)) for sums in people) / len(people)
                for people in self.sharing
            )
        return min(1.0, sum(p for v, p in self.probabilities(reading).items() if v in values))


@dataclass(frozen=True)
class CandidateGroup:
    """The candidates for one known row in one file.

    ``counts`` tells whether the known row is in the file, so that the group has a size. ``together`` has, for several
    known rows, each choice of their rows with its weight and the candidates. ``released`` is the distribution of the
    sensitive attribute in the released rows, by reading.
    """

    files: tuple[str, ...]
    file: str
    known: tuple[int, ...]
    sought: int
    candidates: tuple[Candidate, ...]
    counts: bool
    together: tuple[tuple[float, tuple[Candidate, ...]], ...] = ()
    released: dict[str, Distribution] = field(default_factory=dict)

    @property
    def readings(self) -> list[str]:
        """The readings under which somebody has a value; none where the file has no view of the attribute."""
        names = dict.fromkeys(n for c in self.candidates for n in [*c.readings, *([STEADY] if c.sharing else [])])
        return [n for n in names if any(c.probabilities(n) for c in self.candidates)]

    def unit_weights(self, *, weighted: bool = True) -> Distribution:
        """The weight of each unit: the largest of its rows, or 1."""
        weights: Distribution = defaultdict(float)
        for c in self.candidates:
            weights[c.unit] = max(weights[c.unit], c.weight if weighted else 1.0)
        return weights


class ReaderView:
    """The groups of all readers of an inquiry's files."""

    def __init__(self, inquiry: Inquiry, *, apart: bool = False) -> None:
        self.inquiry, self.chances = inquiry, Chances(inquiry)
        self.readers = readers(inquiry.files, apart=apart)
        self._released: dict[tuple[str, ...], dict[str, Distribution]] = {}

    def groups(self) -> list[CandidateGroup]:
        """Every group, of each reader and each choice of known rows."""
        return [
            group
            for files in self.readers
            for known in known_choices(self.inquiry)
            for group in self._groups(Search(self.inquiry, self.chances, files, known))
        ]

    def _groups(self, search: Search) -> Iterator[CandidateGroup]:
        guesses = search.guesses()
        sampled = len(search.files) > 1 and any(f.sampled for f in search.files)
        for scaled in (False, True) if sampled else (True,):
            for n in sorted({n for n, _ in search.places}):
                yield from self._groups_of_file(search, n, guesses, scaled=scaled)

    def _groups_of_file(
        self, search: Search, n: int, guesses: list[Guess], *, scaled: bool
    ) -> Iterator[CandidateGroup]:
        file = search.files[n]
        here = [k for m, k in search.places if m == n]
        choices = search.choices(n, guesses, scaled=scaled)
        if not choices:
            return  # the scaled matrix leaves no candidate in this file
        weights: dict[tuple[int, int], float] = defaultdict(float)
        for rows, weight in choices.items():
            for place in zip(here, rows, strict=True):
                weights[place] += weight
        candidates = {
            (k, row): self._candidate(search, file, row, weight, _allowed(guesses, (n, k), row))
            for (k, row), weight in weights.items()
        }
        together = tuple(
            (weight, tuple(candidates[place] for place in zip(here, rows, strict=True)))
            for rows, weight in choices.items()
            if len(here) > 1
        )
        for k in here:
            yield CandidateGroup(
                tuple(f.name for f in search.files),
                file.name,
                search.known,
                k,
                tuple(c for (other, _), c in candidates.items() if other == k),
                search.status(file, k) == "present",
                together,
                self.released(search.files, file),
            )

    def _candidate(
        self, search: Search, file: ReleasedFile, row: int, weight: float, allowed: frozenset[Any] | None
    ) -> Candidate:
        inquiry = self.inquiry
        unit = inquiry.prepared.person_of(file, row)
        if inquiry.sensitive is None:
            return Candidate(row, unit, weight, {SOURCE: {}})
        readings = {SOURCE: probabilities(inquiry, file, row, allowed), **_shown_values(inquiry, file, row)}
        return Candidate(row, unit, weight, readings, _people_sharing(search, file, row))

    def released(self, files: list[ReleasedFile], file: ReleasedFile) -> dict[str, Distribution]:
        """The distribution of the sensitive attribute in the released rows, each unit with the same weight.

        They are the rows of this file if a column of it carries the attribute, else those of the reader's files in
        which one does.
        """
        carrying = [file] if self._carries(file) else [f for f in files if self._carries(f)]
        key = tuple(f.name for f in carrying)
        if key not in self._released:
            rows: dict[str, list[tuple[Any, Distribution]]] = defaultdict(list)
            for f in carrying:
                for i in (i for i, r in enumerate(f.rows) if not r.absent and not self.inquiry.is_left_out(f, i)):
                    unit = self.inquiry.prepared.person_of(f, i)
                    for name, shares in {
                        SOURCE: probabilities(self.inquiry, f, i),
                        **_shown_values(self.inquiry, f, i),
                    }.items():
                        rows[name].append((unit, shares))
            self._released[key] = {name: spread(((u, 1.0, s) for u, s in own), {}) for name, own in rows.items()}
        return self._released[key]

    def _carries(self, file: ReleasedFile) -> bool:
        """Whether a cell of a file carries the sensitive attribute."""
        rows = range(len(file.rows))
        return any(self.inquiry.sensitive in c.carried(cell) for i in rows for c, cell in file.cells_of(i))


def spread(rows: Any, unit_weights: Distribution) -> Distribution:
    """Add up distributions of rows: each unit by its weight (1 unless given), spread over its rows by their weights.

    ``rows`` are triples of unit, weight and distribution; rows without a distribution are left out.
    """
    rows = [(unit, weight, shares) for unit, weight, shares in rows if shares]
    total: Counter[Any] = Counter()
    for unit, weight, _ in rows:
        total[unit] += weight
    whole = sum(unit_weights.get(unit, 1.0) for unit in total)
    found: Distribution = defaultdict(float)
    for unit, weight, shares in rows:
        of_all = sum(shares.values())
        for value, p in shares.items():
            found[value] += unit_weights.get(unit, 1.0) / whole * weight / total[unit] * p / of_all
    return dict(found)


def probabilities(
    inquiry: Inquiry, file: ReleasedFile, row: int, allowed: frozenset[Any] | None = None
) -> Distribution:
    """The sensitive values of a row with their probabilities, limited to allowed values; empty without a carrier.

    They are the values' shares among the rows with equal cells in the columns that carry the sensitive attribute, and
    in those that carry what these carry beside it.
    """
    s, own = inquiry.sensitive, file.cells_of(row)
    telling = [(c, cell) for c, cell in own if s in c.carried(cell)]
    if not telling:
        return {}
    beside = {a for c, cell in telling if not c.failed_requirement(cell) for a in c.carried(cell)} - {s}
    cells = {c.name: cell for c, cell in own if (c, cell) in telling or c.carried(cell) & beside}
    absent = file.rows[row].absent
    values = {a: inquiry.values_in(file, file.rows[row].origins[0])[a] for a in beside} if absent else {}
    counts: Counter[Any] = Counter()
    for i, other in enumerate(file.rows):
        alike = all(other.cells.get(name, ABSENT_CELL) == cell for name, cell in cells.items())
        if alike and inquiry.has_values(file, i, values) and not inquiry.is_left_out(file, i):
            counts.update({inquiry.values_in(file, k)[s] for k in other.origins})
    if allowed is not None:
        counts = Counter({v: n for v, n in counts.items() if v in allowed}) or Counter(allowed)
    total = sum(counts.values())
    return {v: n / total for v, n in counts.items()}


def _shown_values(inquiry: Inquiry, file: ReleasedFile, row: int) -> dict[str, Distribution]:
    """Exchanged, averaged and noisy cells that carry the sensitive attribute, read as they are shown."""
    return {
        f"shown {c.name}": {cell: 1.0}
        for c, cell in file.cells_of(row)
        if c.kind in READ_AS_SHOWN and inquiry.sensitive in c.carries
    }


def _allowed(guesses: list[Guess], place: tuple[int, int], row: int) -> frozenset[Any] | None:
    """The sensitive values that some guess with this row allows; None if it allows all."""
    found: set[Any] = set()
    for guess in guesses:
        if guess.rows[place] == row and guess.values:
            values = guess.values[place[1]]
            if values is None:
                return None
            found |= values
    return frozenset(found)


def _steady_cells(search: Search, file: ReleasedFile, row: int) -> list[ShownValues]:
    return [s for s in search.inquiry.shown(file, row) if search.steady.issuperset(s.attributes)]


def _people_sharing(search: Search, file: ReleasedFile, row: int) -> tuple[People, ...]:
    """For each file, the people who share this row's steady cells in rows of it, with their sensitive values there.

    What is shared is an attribute outside of G. It is not the sensitive one: that two rows may have the same value of
    it says no more of the value than the cells themselves.
    """
    inquiry = search.inquiry
    if inquiry.prepared.subject is None or file.rows[row].absent:
        return ()
    own = _steady_cells(search, file, row)
    attributes = {a for s in own for a in s.attributes} - inquiry.grouping - {inquiry.sensitive}
    found = []
    for other in search.files:
        values: dict[Any, Counter[Any]] = defaultdict(Counter)
        for i, other_row in enumerate(other.rows):
            theirs = _steady_cells(search, other, i)
            common = attributes & {a for s in theirs for a in s.attributes}
            if common and not other_row.absent and can_hold([*own, *theirs], {}):
                values[inquiry.prepared.person_of(other, i)].update(probabilities(inquiry, other, i))
        if any(values.values()):
            found.append(tuple(dict(sums) for sums in values.values()))
    return tuple(found)
