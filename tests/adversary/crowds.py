"""Classes, crowds and what each row reveals of a sensitive attribute: DESIGN 6a, by brute force over the rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from adversary.lineage import Columns, Made
from adversary.shares import MISSING, total

Cells = Mapping[str, str]
Row = tuple[str, ...]


@dataclass(frozen=True)
class Release:
    """``cells`` and ``people``, the original values, of each released row; ``origins`` are their source rows."""

    columns: Columns
    cells: Sequence[Cells]
    people: Sequence[Cells]
    origins: Sequence[int]
    nulls: str = "own_category"

    def carriers(self, attribute: str) -> list[Made]:
        """Return the columns computed from an attribute."""
        return [c for c in self.columns.values() if attribute in c.computed]

    def shown(self, row: int, columns: Sequence[Made]) -> Row:
        """Return a row's cells."""
        return tuple(self.cells[row][c.name] for c in columns)


@dataclass(frozen=True)
class Question:
    """Who knows the attributes ``known`` of somebody and wants to know those of ``secret``.

    ``missing_counts``: a row whose secret is missing is one without it, also under ``nulls: exclude``.
    """

    known: tuple[str, ...]
    secret: tuple[str, ...]
    missing_counts: bool = False


@dataclass(frozen=True)
class Crowd:
    """``rows`` that a person may be; ``parts``: the rows behind each mixed cell, with how often people show it.

    ``people`` are the rows of those who find themselves in it.
    """

    rows: tuple[int, ...]
    parts: tuple[tuple[Fraction, tuple[int, ...]], ...]
    people: tuple[int, ...] = ()


@dataclass(frozen=True)
class Told:
    """What each row reveals of an attribute, as a histogram with sum 1, and the histogram of everybody."""

    rows: Mapping[int, Mapping[str, Fraction]]
    base: Mapping[str, Fraction]
    what: str


def split(release: Release, question: Question) -> tuple[list[Made], list[Made]]:
    """Return the grouping and the mixed columns."""
    known, secret = set(question.known), set(question.secret)
    about = [c for c in release.columns.values() if c.computed & known]
    return [c for c in about if not c.computed & secret], [c for c in about if c.computed & secret]


def kept(release: Release, question: Question, read: Sequence[Made] = ()) -> list[int]:
    """Return the rows that count; ``exclude`` leaves out those with a missing cell in any column that matters.

    These are the grouping and mixed ones, and those that the secret is ``read`` off.
    """
    every = list(range(len(release.cells)))
    if release.nulls != "exclude":
        return every
    grouping, mixed = split(release, question)
    looked = [*grouping, *mixed]
    looked += [] if question.missing_counts else read
    return [i for i in every if MISSING not in release.shown(i, looked)]


def classes(release: Release, grouping: Sequence[Made], rows: Sequence[int]) -> list[tuple[list[int], list[int]]]:
    """Return each class, after the rows whose class it is."""
    fits = _wildcard if release.nulls == "wildcard" else _equal
    own: dict[Row, list[int]] = {}
    for i in rows:
        own.setdefault(release.shown(i, grouping), []).append(i)
    return [(rows_, [j for j in rows if fits(mine, release.shown(j, grouping))]) for mine, rows_ in own.items()]


def _equal(mine: Row, other: Row) -> bool:
    return mine == other


def _wildcard(mine: Row, other: Row) -> bool:
    """Whether the other row contradicts mine nowhere, and is missing wherever mine is."""
    return all(b == MISSING or (a == b and a != MISSING) for a, b in zip(mine, other, strict=True))


def crowds(release: Release, question: Question, rows: Sequence[int]) -> Iterator[Crowd]:
    """Yield the crowd of every person for an adversary who knows the person's attributes ``known``."""
    grouping, mixed = split(release, question)
    for own, members in classes(release, grouping, rows):
        if not mixed:
            yield Crowd(tuple(members), ((Fraction(1), tuple(members)),), tuple(own))
            continue
        yield from _inside(release, question, mixed, members)


def _inside(release: Release, question: Question, mixed: Sequence[Made], members: Sequence[int]) -> Iterator[Crowd]:
    """Yield the crowds inside of one class: for each q, the rows whose mixed cells occur with some row of q."""
    of_cells: dict[Row, list[int]] = {}
    of_people: dict[Row, list[int]] = {}
    for i in members:
        of_cells.setdefault(release.shown(i, mixed), []).append(i)
        of_people.setdefault(tuple(release.people[i][a] for a in question.known), []).append(i)
    for alike in of_people.values():
        shown = [release.shown(i, mixed) for i in alike]
        parts = [(Fraction(shown.count(m), len(shown)), tuple(of_cells[m])) for m in dict.fromkeys(shown)]
        yield Crowd(tuple(i for _, part in parts for i in part), tuple(parts), tuple(alike))


def size(release: Release, question: Question) -> int | None:
    """Return the least crowd; 0 without any row, None where nobody can tell."""
    if release.nulls == "wildcard" and split(release, question)[1]:
        return None
    return min((len(c.rows) for c in crowds(release, question, kept(release, question))), default=0)


def readings(release: Release, question: Question, attribute: str) -> list[Told]:
    """Return what rows reveal of an attribute: decoded where that is possible, else originals and cells as they are."""
    carriers = release.carriers(attribute)
    if not carriers:
        return []
    rows = kept(release, question, carriers)
    originals = {i: {release.people[i][attribute]: Fraction(1)} for i in rows}
    if all(c.alone for c in carriers):
        return [_told(_decoded(release, carriers, originals), "decoded")]
    found = [_told(originals, "originals")]
    for column in carriers:
        cells = {i: {release.cells[i][column.name]: Fraction(1)} for i in kept(release, question, [column])}
        found.append(_told(cells, f"cells of {column.name}"))
    return found


def _decoded(
    release: Release, carriers: Sequence[Made], originals: Mapping[int, Mapping[str, Fraction]]
) -> dict[int, Mapping[str, Fraction]]:
    """Return P(v | c) of each row."""
    alike: dict[Row, list[int]] = {}
    for i in originals:
        alike.setdefault(release.shown(i, carriers), []).append(i)
    of_cells = {c: total((Fraction(1, len(rows)), originals[i]) for i in rows) for c, rows in alike.items()}
    return {i: of_cells[release.shown(i, carriers)] for i in originals}


def _told(rows: Mapping[int, Mapping[str, Fraction]], what: str) -> Told:
    return Told(rows, total((Fraction(1, len(rows)), r) for r in rows.values()), what)
