"""Compares what a ledger keeps of files with the reader without runs: figures, of more sequences in the same time.

Each run has one file. The lesser figure of all files and of the last file alone is the product's. Where values have
changed, its shares can be some thousandths milder: an earlier row is a row of its own there, while the reader here
leaves the changed value out of the chance of the own pair (number 163).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from adversary.reader.cases import ColumnPlan, random_column, random_source
from adversary.reader.figures import largest_share, smallest_size
from adversary.reader.files import (
    NotVerified,
    ReleasedColumn,
    ReleasedFile,
    ReleasedRow,
    SourceRow,
    TruthExcluded,
    prepare,
)
from adversary.reader.ledger import groups_of_run
from adversary.reader.showing import Inquiry
from ppdm_flow.core.people import PeopleCount
from ppdm_flow.core.roles import Nulls
from ppdm_flow.reader.earlier import KeptFile, unpacked
from ppdm_flow.reader.faults import NotVerifiedError
from ppdm_flow.reader.figures import worst
from ppdm_flow.reader.run import EarlierFiles, RunReader
from ppdm_flow.reader.run_files import keep
from ppdm_flow.sdk.audit import OtherRelease
from tests.reader.releases import Hashes, made_of, release

ATTRIBUTES = ("a", "b", "s", "x")
PERSON, SENSITIVE = "id", "s"
SLACK = 1e-4
SAME, STRICTER, MILDER = "the same", "stricter", "milder"


@dataclass(frozen=True)
class FileOfTime:
    """A file with the source of its time: it has ``rows`` of it, and lacks others ``by_chance``.

    ``numbers`` are those of the source rows, the same at all times.
    """

    source: list[SourceRow]
    numbers: list[int]
    plans: dict[str, ColumnPlan]
    rows: list[int]
    cells: dict[str, list[Any]]
    decided: frozenset[str] | None
    by_chance: list[int]


@dataclass(frozen=True)
class FileSequence:
    """Files of one run after the other, and the question about the last of them."""

    files: list[FileOfTime]
    grouping: str
    sensitive: str
    known_rows: int | None
    """None where nobody has two rows."""


@dataclass(frozen=True)
class FigureComparison:
    """How the product's figures are to the reader's; ``figures`` are pairs of both."""

    number: int
    size: str
    share: str
    figures: tuple[Any, ...] = ()


def random_file_sequence(number: int) -> FileSequence:
    """The sequence of a number, always the same."""
    draw = Random(f"kept {number}")
    people = draw.random() < 0.3
    source = random_source(draw, draw.randint(5, 7), extra=("x",), missing=draw.random() < 0.15)
    numbers = list(range(len(source)))
    for i, row in enumerate(source):
        row[PERSON] = f"i{draw.randrange(4) if people else i}"
    changes = draw.choice(("nothing", "people", "values", "values", "both"))
    keyed, files = draw.random() < 0.6, []
    for i in range(draw.choice((2, 2, 3))):
        source = [dict(row) for row in source]
        if i and changes in ("people", "both"):
            source, numbers = _other_people(draw, source, numbers)
        if i and changes in ("values", "both"):
            for row in draw.sample(source, draw.choice((1, 1, 2))):
                name = draw.choice(ATTRIBUTES)
                row[name] = draw.choice(source)[name] if draw.random() < 0.8 else f"{name}9"
        order = draw.sample(range(len(source)), len(source))
        source, numbers = [source[k] for k in order], [numbers[k] for k in order]
        files.append(_random_file(draw, source, numbers, keyed=keyed or draw.random() < 0.2))
    known_rows = draw.choice((1, 1, 2)) if people else None
    return FileSequence(files, draw.choice(("ab", "ab", "a", "b")), draw.choice((SENSITIVE, SENSITIVE, "")), known_rows)


def _other_people(draw: Random, source: list[SourceRow], numbers: list[int]) -> tuple[list[SourceRow], list[int]]:
    leaving = {source[k][PERSON] for k in draw.sample(range(len(source)), draw.choice((0, 1, 1, 2)))}
    kept = [k for k, row in enumerate(source) if row[PERSON] not in leaving]
    if len(kept) < 3:
        kept = list(range(len(source)))
    coming = draw.choice((0, 1, 1))
    first = max(numbers) + 1
    new = [{**{a: draw.choice(source)[a] for a in ATTRIBUTES}, PERSON: f"n{first + i}"} for i in range(coming)]
    return [source[k] for k in kept] + new, [numbers[k] for k in kept] + list(range(first, first + coming))


def _random_file(draw: Random, source: list[SourceRow], numbers: list[int], *, keyed: bool) -> FileOfTime:
    plans = {f"c{j}": random_column(draw, ATTRIBUTES, source) for j in range(draw.choice((1, 2, 2, 3)))}
    if keyed:
        plans["p"] = {PERSON}, lambda row: f"K{row[PERSON]}", {"kind": "keyed", "key": "K"}
    rows, decided, by_chance = list(range(len(source))), None, list[int]()
    lack = draw.choice(("nothing", "nothing", "nothing", "nothing", "by chance", "for a reason"))
    if lack == "by chance":
        rows = sorted(draw.sample(rows, draw.randint(3, len(rows))))
        by_chance = [k for k in range(len(source)) if k not in rows]
    elif lack == "for a reason":
        pair = draw.sample(ATTRIBUTES, 2)
        values = sorted({tuple(str(row[a]) for a in pair) for row in source})
        gone = {v for v in values if draw.random() < 0.2}
        left = [k for k in rows if tuple(str(source[k][a]) for a in pair) not in gone]
        if len(left) > 1:
            rows, decided = left, frozenset(pair)
    cells = {name: [plan[1](source[k]) for k in rows] for name, plan in plans.items()}
    return FileOfTime(source, list(numbers), plans, rows, cells, decided, by_chance)


def compare_figures(number: int) -> FigureComparison:
    """Take the figures of a sequence by both. Raises `TruthExcluded`."""
    sequence = random_file_sequence(number)
    try:
        both, alone = _figures_of_reader(sequence)
    except NotVerified as reason:
        return FigureComparison(number, STRICTER, STRICTER, (str(reason),))
    try:
        product = _figures_of_product(sequence)
    except NotVerifiedError as reason:
        return FigureComparison(number, STRICTER, STRICTER, (str(reason),))
    size = min((s for s in (alone[0], product[0]) if s is not None), default=None)
    share = max((s for s in (alone[1], product[1]) if s is not None), default=None)
    return FigureComparison(
        number,
        _compared(both[0], size),
        _compared(None if both[1] is None else -both[1], None if share is None else -share),
        (both, (size, share)),
    )


def _compared(reader: float | None, product: float | None) -> str:
    """How the product's figure is to the reader's, of which the lesser is stricter."""
    if reader is None:
        return SAME
    if product is None or product > reader + SLACK:
        return MILDER
    return STRICTER if product < reader - SLACK else SAME


Figures = tuple[int | None, float | None]


def _figures_of_reader(sequence: FileSequence) -> tuple[Figures, Figures]:
    """Size and share for a reader of all files, and for a reader of the last one."""
    *before, last = sequence.files
    values = {n: row for file in before for n, row in zip(file.numbers, file.source, strict=True)}
    told = {n for f in before for k, n in enumerate(f.numbers) if k not in f.by_chance}
    values.update(zip(last.numbers, last.source, strict=True))
    at = {n: i for i, n in enumerate([*last.numbers, *sorted(told - set(last.numbers))])}
    source = [values[n] for n in at]
    files = [_described(f"{i}", file, at, source) for i, file in enumerate(sequence.files)]
    people = sequence.known_rows is not None
    prepared = prepare(source, files, subject=PERSON if people else None)
    inquiry = Inquiry(prepared, sequence.grouping, sequence.sensitive or None, known_rows=sequence.known_rows or 1)
    groups = groups_of_run(prepared, {files[-1].name}, inquiry)
    alone = [g for g in groups if g.files == (files[-1].name,)]
    return (smallest_size(groups), largest_share(groups)), (smallest_size(alone), largest_share(alone))


def _described(name: str, file: FileOfTime, at: dict[int, int], source: Sequence[SourceRow]) -> ReleasedFile:
    columns = [ReleasedColumn(n, frozenset(of), **dict(*more)) for n, (of, _, *more) in file.plans.items()]
    rows = [
        ReleasedRow((at[file.numbers[k]],), {n: own[i] for n, own in file.cells.items()})
        for i, k in enumerate(file.rows)
    ]
    lacking = {n for k, n in enumerate(file.numbers) if k not in file.rows and k not in file.by_chance}
    absent = [k for n, k in at.items() if n in lacking or (n not in file.numbers and not file.by_chance)]
    then = {at[n]: row for n, row in zip(file.numbers, file.source, strict=True) if n in at and row != source[at[n]]}
    present = (file.decided or frozenset()) if absent else None
    return ReleasedFile(name, columns, rows, absent, present, bool(file.by_chance), then=then)


def _figures_of_product(sequence: FileSequence) -> Figures:
    """Size and share by what a ledger keeps; None where files tell no more than each of them."""
    *before, last = sequence.files
    earlier = tuple(_kept(f"{i}", file) for i, file in enumerate(before))
    reader = RunReader(
        [_released("last", last)],
        None if sequence.known_rows is None else PeopleCount(PERSON, sequence.known_rows),
        Nulls.OWN_CATEGORY,
        frozenset(sequence.grouping),
        quasi_identifiers=frozenset(sequence.grouping),
        before=EarlierFiles(earlier, Hashes(), frozenset((*ATTRIBUTES, PERSON))),
    )
    told = reader.together(tuple(sequence.grouping), sequence.sensitive)
    if told is None or "last" not in told.views:
        return None, None
    figures = worst(told.views["last"])
    return figures["k"], figures["alpha"]


def _kept(name: str, file: FileOfTime) -> KeptFile:
    return unpacked(name, keep(_released(name, file), Hashes()).packed())


def _released(name: str, file: FileOfTime) -> OtherRelease:
    source = {n: [row[n] for row in file.source] for n in (*ATTRIBUTES, PERSON)}
    made = {n: (made_of(*of, **dict(*more)), file.cells[n]) for n, (of, _, *more) in file.plans.items()}
    more: dict[str, Any] = {"decided_by": file.decided} if file.decided else {}
    return release(name, source, file.rows, made, left_out_at_random=file.by_chance, **more)


def main(first: int, last: int) -> None:
    """Compare the figures of some numbers, and print where the product's are milder."""
    counts: Counter[str] = Counter()
    for number in range(first, last):
        try:
            found = compare_figures(number)
        except TruthExcluded as error:
            print(number, "TruthExcluded:", error, flush=True)
            continue
        counts[f"size: {found.size}; share: {found.share}"] += 1
        if MILDER in (found.size, found.share):
            print(number, found.size, found.share, found.figures, flush=True)
    for text, count in counts.most_common():
        print(count, text)
